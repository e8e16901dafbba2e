package topology

import (
	"fmt"
	"math"
	"time"
)

const (
	// smallestMaxStaleness and idleWritePeriod are the constants of the Max Staleness specification: a primary writes to
	// its oplog at least once in the latter.
	smallestMaxStaleness = 90 * time.Second
	idleWritePeriod      = 10 * time.Second
)

// maxStaleness returns the limit, and whether there is one: a negative one, in the URI -1, means none.
func (s *Selection) maxStaleness() (time.Duration, bool) {
	limit, given := s.ReadPref.MaxStaleness()
	return limit, given && limit >= 0
}

// checkStaleness refuses a limit too small to be told from the delay of the checks. Only in replica sets: a mongos
// judges by itself, a single server is taken as it is.
func (s *Selection) checkStaleness(d *Description) error {
	limit, given := s.maxStaleness()
	if !given || d.Kind != ReplicaSetNoPrimary && d.Kind != ReplicaSetWithPrimary {
		return nil
	}
	if limit < smallestMaxStaleness {
		return fmt.Errorf("maxStalenessSeconds must be at least %v, it is %v", smallestMaxStaleness, limit)
	}
	if least := s.HeartbeatInterval + idleWritePeriod; limit < least {
		return fmt.Errorf("maxStalenessSeconds must be at least heartbeatFrequencyMS plus %v, here %v, it is %v",
			idleWritePeriod, least, limit)
	}
	return nil
}

// freshEnough keeps, in place, the candidates that are not too stale: Server Selection, "maxStalenessSeconds". The
// yardstick may be a deprioritized server: it is about the data, not about who may be asked.
func freshEnough(candidates []*Server, d *Description, s *Selection) []*Server {
	limit, given := s.maxStaleness()
	if !given {
		return candidates
	}
	yardstick := freshest(d)
	kept := candidates[:0]
	for _, c := range candidates {
		if c.Kind != RSSecondary || staleness(c, yardstick)+float64(s.HeartbeatInterval) <= float64(limit) {
			kept = append(kept, c)
		}
	}
	return kept
}

// freshest returns the primary, or without one the secondary with the latest write; nil if there are neither.
func freshest(d *Description) *Server {
	var latest *Server
	for _, s := range d.Servers {
		switch {
		case s.Kind == RSPrimary:
			return s
		case s.Kind == RSSecondary && (latest == nil || s.LastWriteDate.After(latest.LastWriteDate)):
			latest = s
		}
	}
	return latest
}

// staleness estimates by how many nanoseconds the secondary s lags behind. The dates are the servers' word, so the sum
// is taken in floating point, where absurd ones cannot overflow into a small lag; and who does not tell its last write
// cannot be judged, so it lags without end.
func staleness(s, yardstick *Server) float64 {
	switch {
	case s.LastWriteDate.IsZero() || yardstick.LastWriteDate.IsZero():
		return math.Inf(1)
	case yardstick.Kind == RSPrimary:
		return nanoseconds(s.LastUpdateTime, s.LastWriteDate) - nanoseconds(yardstick.LastUpdateTime, yardstick.LastWriteDate)
	}
	return nanoseconds(yardstick.LastWriteDate, s.LastWriteDate)
}

func nanoseconds(t, since time.Time) float64 { return float64(t.Sub(since)) }
