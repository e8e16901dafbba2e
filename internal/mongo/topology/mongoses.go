package topology

import (
	"sync/atomic"
	"time"
)

// Mongoses remembers the mongoses in the latency window of one description. They are the same for nearly every operation of a
// client, and there may be a thousand. The zero value is ready for use. It is safe for concurrent use.
type Mongoses struct{ found atomic.Pointer[window] }

// window is what a selection found.
type window struct {
	threshold time.Duration
	servers   []*Server
}

// Select is [Select] with the description that m is for. It may return a slice that others have too: the caller must not
// change it.
func (m *Mongoses) Select(d *Description, s *Selection, dst []*Server) ([]*Server, error) {
	if d.Type != Sharded || d.CompatibilityError != nil || s.WritesOutput || len(s.Deprioritized) > 0 || len(dst) > 0 {
		return Select(d, s, dst)
	}
	if err := s.check(d); err != nil {
		return dst, err
	}
	if found := m.found.Load(); found != nil && found.threshold == s.LocalThreshold {
		return found.servers, nil
	}
	servers, err := Select(d, s, nil)
	if err == nil {
		m.found.Store(&window{s.LocalThreshold, servers})
	}
	return servers, err
}
