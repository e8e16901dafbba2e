package topology

import (
	"fmt"
	"math"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

const (
	// The constants of the Max Staleness specification. An idle primary writes to its oplog once in idleWritePeriod.
	smallestMaxStaleness = 90 * time.Second
	idleWritePeriod      = 10 * time.Second
)

// CheckReadPreference refuses a read preference with a negative limit other than -1 second, which means no limit.
func CheckReadPreference(rp *readpref.ReadPref) error {
	if rp == nil {
		return nil
	}
	if limit, given := rp.MaxStaleness(); given && limit < 0 && limit != -1*time.Second {
		return fmt.Errorf("the read preference: maxStalenessSeconds is %v; it must be -1s, which means no limit, or positive", limit)
	}
	return nil
}

// maxStaleness returns the limit, and reports whether there is one. A negative one (-1 in the URI) means no limit.
func (s *Selection) maxStaleness() (time.Duration, bool) {
	limit, given := s.ReadPref.MaxStaleness()
	return limit, given && limit >= 0
}

// checkStaleness refuses a limit that is too small to be estimated from heartbeats. It applies to replica sets only:
// a mongos applies the limit itself, and a direct connection ignores it.
func (s *Selection) checkStaleness(d *Description) error {
	limit, given := s.maxStaleness()
	if !given || d.Type != ReplicaSetNoPrimary && d.Type != ReplicaSetWithPrimary {
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

// freshEnough keeps, in place, the candidates that are not too stale: Server Selection, "maxStalenessSeconds". A
// deprioritized server can be the reference, because the reference is only compared with and not selected.
func freshEnough(candidates []*Server, d *Description, s *Selection) []*Server {
	limit, given := s.maxStaleness()
	if !given {
		return candidates
	}
	reference := freshest(d)
	kept := candidates[:0]
	for _, c := range candidates {
		if c.Type != RSSecondary || staleness(c, reference)+float64(s.HeartbeatInterval) <= float64(limit) {
			kept = append(kept, c)
		}
	}
	return kept
}

// TooStale reports whether a server is a secondary that is staler than the read preference permits.
func (s *Selection) TooStale(d *Description, server *Server) bool {
	if s.ReadPref == nil {
		return false
	}
	one := [...]*Server{server}
	return len(freshEnough(one[:], d, s)) == 0
}

// freshest returns the primary, else the secondary with the latest write, else nil.
func freshest(d *Description) *Server {
	var latest *Server
	for _, s := range d.Servers {
		switch {
		case s.Type == RSPrimary:
			return s
		case s.Type == RSSecondary && (latest == nil || s.LastWriteDate.After(latest.LastWriteDate)):
			latest = s
		}
	}
	return latest
}

// staleness estimates the staleness of the secondary s in nanoseconds. The dates come from servers and may be wrong,
// so the sum is in floating point: it cannot overflow into a small staleness. If the date of a last write is missing,
// the staleness is infinite.
func staleness(s, reference *Server) float64 {
	switch {
	case s.LastWriteDate.IsZero() || reference.LastWriteDate.IsZero():
		return math.Inf(1)
	case reference.Type == RSPrimary:
		return nanoseconds(s.LastUpdateTime, s.LastWriteDate) - nanoseconds(reference.LastUpdateTime, reference.LastWriteDate)
	}
	return nanoseconds(reference.LastWriteDate, s.LastWriteDate)
}

func nanoseconds(t, since time.Time) float64 { return float64(t.Sub(since)) }
