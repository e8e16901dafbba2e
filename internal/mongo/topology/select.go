package topology

import (
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

// Selection is what an operation needs of a server.
type Selection struct {
	Write    bool               // the preference is ignored then
	ReadPref *readpref.ReadPref // nil is primary

	// LocalThreshold is the width of the latency window, localThresholdMS.
	LocalThreshold time.Duration
	// HeartbeatInterval is heartbeatFrequencyMS, by which staleness is judged.
	HeartbeatInterval time.Duration
	// Deprioritized are the addresses of servers that are taken only if nothing else is suitable.
	Deprioritized []string
}

func (s *Selection) mode() readpref.Mode {
	if s.Write || s.ReadPref == nil {
		return readpref.PrimaryMode
	}
	return s.ReadPref.Mode()
}

// Select appends to dst the servers that suit the operation and lie in the latency window: Server Selection, "Server
// Selection Algorithm", steps 2 to 5. The choice among them is the caller's. No server at all is no error: it may come.
// An error is final for this description: an incompatible server, or a preference that no topology of this kind can
// serve. Nothing is allocated as long as dst has room.
func Select(d *Description, s *Selection, dst []*Server) ([]*Server, error) {
	if d.CompatibilityError != nil {
		return dst, d.CompatibilityError
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
		return fmt.Errorf("read preference: %d is no mode", mode)
	}
	return s.checkStaleness(d)
}

// appendSuitable leaves the deprioritized servers out, unless that leaves nothing.
func appendSuitable(dst []*Server, d *Description, s *Selection) []*Server {
	n := len(dst)
	dst = appendCandidates(dst, d, s, s.Deprioritized)
	if len(dst) == n && len(s.Deprioritized) > 0 {
		dst = appendCandidates(dst, d, s, nil)
	}
	return dst
}

// appendCandidates is the rule of each type of topology, over the servers that are not among without.
func appendCandidates(dst []*Server, d *Description, s *Selection, without []string) []*Server {
	switch d.Kind {
	case Single:
		for _, server := range d.Servers {
			if server.Known() && !slices.Contains(without, server.Address) {
				dst = append(dst, server)
			}
		}
	case Sharded:
		return appendKind(dst, d, Mongos, without)
	case LoadBalanced:
		return appendKind(dst, d, LoadBalancer, without)
	case ReplicaSetNoPrimary, ReplicaSetWithPrimary:
		return appendMembers(dst, d, s, without)
	case UnknownTopology:
	}
	return dst
}

func appendKind(dst []*Server, d *Description, kind ServerKind, without []string) []*Server {
	for _, server := range d.Servers {
		if server.Kind == kind && !slices.Contains(without, server.Address) {
			dst = append(dst, server)
		}
	}
	return dst
}

// inLatencyWindow keeps, in place, the servers whose round trip time is at most threshold above the least one: Server
// Selection, "Filtering suitable servers based on the latency window". A server without a measured time is near or
// far for all we know: it counts only if no other was measured.
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
