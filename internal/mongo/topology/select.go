package topology

import (
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

// Selection is an operation's criteria for server selection.
type Selection struct {
	Write    bool               // the operation writes; ReadPref is ignored
	ReadPref *readpref.ReadPref // nil means primary
	// WritesOutput means that the operation is an aggregation with $out or $merge: see ForcesPrimary.
	WritesOutput bool

	// LocalThreshold is the width of the latency window, localThresholdMS.
	LocalThreshold time.Duration
	// HeartbeatInterval is heartbeatFrequencyMS, which the estimate of staleness includes.
	HeartbeatInterval time.Duration
	// Deprioritized are the addresses of servers that are selected only if no other server is suitable.
	Deprioritized []string
}

const outputWireVersion = 13 // MongoDB 5.0

// ForcesPrimary reports whether the operation must run on a primary in spite of its read preference: it is an aggregation
// with $out or $merge, and a known server is older than MongoDB 5.0 (CRUD specification, "Read preferences and server
// selection").
func (s *Selection) ForcesPrimary(d *Description) bool {
	if !s.WritesOutput || d.Type == LoadBalanced {
		return false
	}
	return slices.ContainsFunc(d.Servers, func(server *Server) bool {
		return server.Known() && server.MaxWireVersion < outputWireVersion
	})
}

// String returns the criteria for the log: "write", or the read preference with all its parts.
func (s *Selection) String() string {
	switch {
	case s.Write:
		return "write"
	case s.ReadPref == nil:
		return readpref.Primary().String()
	default:
		return s.ReadPref.String()
	}
}

func (s *Selection) mode() readpref.Mode {
	if s.Write || s.ReadPref == nil {
		return readpref.PrimaryMode
	}
	return s.ReadPref.Mode()
}

// Select appends to dst the suitable servers in the latency window: Server Selection, "Server Selection Algorithm",
// steps 2 to 5. The caller chooses one of them. If no server is suitable, Select appends none and returns no error.
// An error means that waiting for a server is useless: a server is incompatible, or the read preference is invalid
// for this type of topology. Select does not allocate while dst has capacity.
func Select(d *Description, s *Selection, dst []*Server) ([]*Server, error) {
	if d.CompatibilityError != nil {
		return dst, d.CompatibilityError
	}
	if s.ForcesPrimary(d) {
		primary := *s
		primary.ReadPref = nil
		s = &primary
	}
	if err := s.check(d); err != nil {
		return dst, err
	}
	n := len(dst)
	dst = appendSuitable(dst, d, s)
	return dst[:n+len(inLatencyWindow(dst[n:], s.LocalThreshold))], nil
}

func (s *Selection) check(d *Description) error {
	if s.Write || s.ReadPref == nil {
		return nil
	}
	if mode := s.ReadPref.Mode(); !mode.IsValid() {
		return fmt.Errorf("read preference: %d is not a mode", mode)
	}
	if err := CheckReadPreference(s.ReadPref); err != nil {
		return err
	}
	return s.checkStaleness(d)
}

// appendSuitable appends the suitable servers. Deprioritized servers are among them only if no other server is
// suitable.
func appendSuitable(dst []*Server, d *Description, s *Selection) []*Server {
	n := len(dst)
	dst = appendCandidates(dst, d, s, s.Deprioritized)
	if len(dst) == n && len(s.Deprioritized) > 0 {
		dst = appendCandidates(dst, d, s, nil)
	}
	return dst
}

// appendCandidates applies the rule of the topology's type to the servers that are not among excluded.
func appendCandidates(dst []*Server, d *Description, s *Selection, excluded []string) []*Server {
	switch d.Type {
	case Single:
		for _, server := range d.Servers {
			if server.Known() && !slices.Contains(excluded, server.Address) {
				dst = append(dst, server)
			}
		}
	case Sharded:
		return appendKind(dst, d, Mongos, excluded)
	case LoadBalanced:
		return appendKind(dst, d, LoadBalancer, excluded)
	case ReplicaSetNoPrimary, ReplicaSetWithPrimary:
		return appendMembers(dst, d, s, excluded)
	case UnknownTopology:
	}
	return dst
}

func appendKind(dst []*Server, d *Description, kind ServerType, excluded []string) []*Server {
	for _, server := range d.Servers {
		if server.Type == kind && !slices.Contains(excluded, server.Address) {
			dst = append(dst, server)
		}
	}
	return dst
}

// inLatencyWindow keeps, in place, the servers whose round trip time is at most threshold above the least one: Server
// Selection, "Filtering suitable servers based on the latency window". A server without a measured round trip time is
// kept only if none of the servers was measured.
func inLatencyWindow(servers []*Server, threshold time.Duration) []*Server {
	nearest, measured := time.Duration(0), false
	for _, s := range servers {
		if s.HasRTT && (!measured || s.RTT < nearest) {
			nearest, measured = s.RTT, true
		}
	}
	if !measured {
		return servers
	}
	kept := servers[:0]
	for _, s := range servers {
		if s.HasRTT && s.RTT-nearest <= max(threshold, 0) {
			kept = append(kept, s)
		}
	}
	return kept
}
