package topology

import "fmt"

// Apply returns the topology description after s, the result of a check of one server or of an application's
// handshake: SDAM, "Updating the TopologyDescription". It returns d itself if s must be ignored: its server is not in
// the topology, or its topologyVersion is older than that of the current description. Otherwise it returns a new
// description, even one that is Equal to d, because s has a new round trip time. Changes returns which servers differ
// between the two descriptions.
func Apply(d *Description, s *Server) *Description {
	i := d.index(s.Address)
	if i < 0 || compareTopologyVersion(d.Servers[i].TopologyVersion, s.TopologyVersion) > 0 {
		return d
	}
	if d.Type == LoadBalanced && s.Type != LoadBalancer {
		return d // the hello of a service does not describe the load balancer
	}
	next := d.clone()
	next.Servers[i] = s
	next.transition(s, i)
	next.derive()
	return next
}

// transition is SDAM's "TopologyType table", with one case for each column. s is already in d.Servers, at index i.
func (d *Description) transition(s *Server, i int) {
	switch d.Type {
	case UnknownTopology:
		d.updateUnknown(s)
	case Single:
		d.verifySetName(s, i)
	case Sharded:
		if s.Known() && s.Type != Mongos {
			d.remove(s.Address)
		}
	case ReplicaSetNoPrimary:
		d.updateNoPrimary(s)
	case ReplicaSetWithPrimary:
		d.updateWithPrimary(s)
	case LoadBalanced:
	}
}

func (d *Description) updateUnknown(s *Server) {
	switch s.Type {
	case Standalone:
		d.updateUnknownWithStandalone(s)
	case Mongos:
		d.Type = Sharded
	case RSPrimary, RSSecondary, RSArbiter, RSOther:
		d.Type = ReplicaSetNoPrimary
		d.updateNoPrimary(s)
	case Unknown, PossiblePrimary, RSGhost, LoadBalancer:
	}
}

// updateUnknownWithStandalone makes the topology Single if s is the only seed. A standalone among several seeds is a
// mistake in the configuration, so it is removed.
func (d *Description) updateUnknownWithStandalone(s *Server) {
	if d.seeds == 1 {
		d.Type = Single
		return
	}
	d.remove(s.Address)
}

// verifySetName is SDAM, "Verifying setName with TopologyType Single": a server of another set, or of none, is
// Unknown. d.SetName is the required name here, because a direct connection learns no name.
func (d *Description) verifySetName(s *Server, i int) {
	if d.SetName == "" || !s.Known() || s.SetName == d.SetName {
		return
	}
	err := fmt.Errorf("the server's replica set is %q, the required one is %q", s.SetName, d.SetName)
	d.Servers[i] = NewUnknown(s.Address, err, nil)
}

// derive sets the fields that depend on all servers.
func (d *Description) derive() {
	d.CompatibilityError = nil
	if d.Type != LoadBalanced {
		d.CompatibilityError = incompatibility(d.Servers)
	}
	d.SessionTimeoutMinutes = leastSessionTimeout(d.Servers)
}

// leastSessionTimeout is SDAM, "Logical Session Timeout".
func leastSessionTimeout(servers []*Server) *int64 {
	var least *int64
	for _, s := range servers {
		if !s.DataBearing() {
			continue
		}
		if s.SessionTimeoutMinutes == nil {
			return nil
		}
		if least == nil || *s.SessionTimeoutMinutes < *least {
			least = s.SessionTimeoutMinutes
		}
	}
	return least
}

// PoolReady reports whether the connection pool of the server at addr is to be ready after a successful check: SDAM,
// "Connection Pool Management". On a direct connection the pool is ready for any known type of server.
func (d *Description) PoolReady(addr string) bool {
	s := d.Server(addr)
	return s != nil && (s.DataBearing() || d.Type == Single && s.Known())
}
