package simulation

import (
	"slices"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
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

// TestDefectsAreFound checks that a life shows each defect of a node or of our client, by the rule that the defect breaks.
func TestDefectsAreFound(t *testing.T) {
	if raceEnabled && testing.Short() {
		t.Skip("the defects are found, or not, without the race detector")
	}
	for _, test := range []struct {
		name   string
		rule   string
		defect func(*settings)
	}{
		{"a client to which increments are idempotent", "once", func(s *settings) { s.client.IncrementsIdempotent = true }},
		{"a client that retries what a node calls ambiguous", "once", func(s *settings) { s.client.SyncWriteAmbiguousRetried = true }},
		{"a client that takes an older map", "map", func(s *settings) { s.client.OlderMapAccepted = true }},
		{"a client that calls each timeout unambiguous", "error", func(s *settings) { s.client.TimeoutsUnambiguous = true }},
		{"a node that acknowledges before a majority has the write", "durable", func(s *settings) { s.server.AcknowledgeBeforeMajority = true }},
		{
			"a node that applies a write and answers that the vbucket is not its own", "once",
			func(s *settings) { s.server.NotMyVBucketAfterApply = true },
		},
		{"a node that answers reads with what a replica has", "linearizable", func(s *settings) { s.staleReads = true }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			const attempts = 6 // not every order of goroutines shows every defect
			for seed := range uint64(attempts) {
				s := simulated(seed + 1)
				s.duration, s.operations, s.faults = 5*time.Minute, 160, 60
				s.lag = 30 * time.Millisecond
				test.defect(&s)
				found := liveInBubble(t, s).check()
				if slices.ContainsFunc(found, func(v violation) bool { return v.Rule == test.rule }) {
					return
				}
				t.Logf("seed %d shows nothing: %v", s.seed, found)
			}
			t.Errorf("no life of %d shows it", attempts)
		})
	}
}
