package topology

import "fmt"

// Apply returns the topology after s, the outcome of a check of one server or of an application's handshake: SDAM,
// "Updating the TopologyDescription". It returns d itself where the outcome must be ignored: from a server that is no
// part of the topology (any more), or older by its topologyVersion than what is known. Otherwise the result is a new
// description, even if it is equal in the sense of Equal, because s brings a new round trip time.
//
// Changes tells what became different beside s itself.
func Apply(d *Description, s *Server) *Description {
	i := d.index(s.Address)
	if i < 0 || compareTopologyVersion(d.Servers[i].TopologyVersion, s.TopologyVersion) > 0 {
		return d
	}
	if d.Kind == LoadBalanced && s.Kind != LoadBalancer {
		return d // nothing that a service behind it says describes the load balancer
	}
	next := d.clone()
	next.Servers[i] = s
	next.transition(s, i)
	next.derive()
	return next
}

// transition is SDAM's "TopologyType table", a column for each case; s has already replaced its former description.
func (d *Description) transition(s *Server, i int) {
	switch d.Kind {
	case UnknownTopology:
		d.updateUnknown(s)
	case Single:
		d.verifySetName(s, i)
	case Sharded:
		if s.Known() && s.Kind != Mongos {
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
	switch s.Kind {
	case Standalone:
		d.updateUnknownWithStandalone(s)
	case Mongos:
		d.Kind = Sharded
	case RSPrimary, RSSecondary, RSArbiter, RSOther:
		d.Kind = ReplicaSetNoPrimary
		d.updateNoPrimary(s)
	case Unknown, PossiblePrimary, RSGhost, LoadBalancer:
	}
}

// updateUnknownWithStandalone makes the only seed the topology. Among several seeds a standalone can only be a mistake.
func (d *Description) updateUnknownWithStandalone(s *Server) {
	if d.seeds == 1 {
		d.Kind = Single
		return
	}
	d.remove(s.Address)
}

// verifySetName is SDAM, "Verifying setName with TopologyType Single": a server of another set, or of none, is not the
// one that was asked for. Only a required name is in d, a direct connection learns none.
func (d *Description) verifySetName(s *Server, i int) {
	if d.SetName == "" || !s.Known() || s.SetName == d.SetName {
		return
	}
	err := fmt.Errorf("the server's replica set is %q, the required one is %q", s.SetName, d.SetName)
	d.Servers[i] = NewUnknown(s.Address, err, nil)
}

// derive sets what follows from all servers together.
func (d *Description) derive() {
	d.CompatibilityError = nil
	if d.Kind != LoadBalanced {
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
// "Connection Pool Management". On a direct connection any kind of server will do, if it is the one that was asked for.
func (d *Description) PoolReady(addr string) bool {
	s := d.Server(addr)
	return s != nil && (s.DataBearing() || d.Kind == Single && s.Known())
}
