package simulation

import (
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/interop/internal/simcheck"
)

// stale answers a read with the document that the first replica has.
func (c *cast) stale(r *couchbasetest.Request, next couchbasetest.Handler) *couchbasetest.Reply {
	reply := next(r)
	owners := c.server.Owners(bucketName, r.Key)
	if reply == nil || reply.Status != memd.StatusSuccess || r.Collection != 0 || len(owners) < 2 || owners[1] < 0 {
		return reply
	}
	if d, there := c.server.DocumentAt(owners[1], bucketName, r.Key); there {
		reply.Value, reply.CAS = d.Value, d.CAS
	}
	return reply
}

// TestStaleReadsAreFound checks that a life shows it when nodes answer reads with what a replica has.
func TestStaleReadsAreFound(t *testing.T) {
	if raceEnabled && testing.Short() {
		t.Skip("it is found, or not, without the race detector")
	}
	mustBreak(t, "linearizable", func(s *settings) { s.staleReads = true })
}

// mustBreak fails unless one of some lives with changed settings, or with a defect that is switched on, breaks the rule.
func mustBreak(t *testing.T, rule string, change func(*settings)) {
	t.Helper()
	simcheck.MustBreak(t, rule, 6, func(seed uint64) []violation {
		s := simulated(seed)
		s.Duration, s.Operations, s.Faults = 5*time.Minute, 160, 60
		s.lag = 30 * time.Millisecond
		change(&s)
		return liveInBubble(t, s).check()
	})
}
