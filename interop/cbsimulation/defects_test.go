package cbsimulation

import (
	"errors"
	"hash/fnv"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbase/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// defect is a defect of a client or a server that a life must show.
type defect uint8

const (
	none               defect = iota
	incrementsRepeated        // the client sends an increment again although the first one may have been applied
	ambiguousRepeated         // the client sends a write again whose outcome the node called ambiguous
	olderMapAccepted          // the client takes an older map
	levelNotSent              // a write is acknowledged before a majority has it
	refusedAfterApply         // a node applies a write, and answers that the vbucket is not its own
	staleReads                // a node answers some reads with what a replica has
)

// send calls the client, once more if the client has the defect that it repeats such a call.
func (w *worker) send(e effect, call func() error) error {
	err := call()
	switch {
	case w.defect == incrementsRepeated && e == add && errors.Is(err, couchbase.ErrRequestCanceled),
		w.defect == ambiguousRepeated && errors.Is(err, couchbase.ErrDurabilityAmbiguous):
		return call()
	}
	return err
}

// defects switches the defects of the nodes on.
func (c *cast) defects() (remove func()) {
	switch c.defect {
	case refusedAfterApply:
		return c.server.Use(couchbasetest.AnyOpcode, sometimes(func(r *couchbasetest.Request) bool { return isWrite(r.Opcode) },
			couchbasetest.Fault{StatusAfter: memd.StatusNotMyVBucket}))
	case staleReads:
		return c.server.Use(memd.OpGet, c.stale)
	case none, incrementsRepeated, ambiguousRepeated, olderMapAccepted, levelNotSent:
	}
	return func() {}
}

// sometimes applies a fault to one request of 50 for which holds returns true: which one depends on its key and opaque.
func sometimes(holds func(*couchbasetest.Request) bool, f couchbasetest.Fault) couchbasetest.Middleware {
	return couchbasetest.While(func(r *couchbasetest.Request) bool {
		h := fnv.New32a()
		h.Write([]byte(r.Key))
		return holds(r) && (h.Sum32()+r.Opaque)%50 == 0
	}, f)
}

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

// TestDefectsAreFound checks that a life shows each defect of a client or a server, by the rule that the defect breaks.
func TestDefectsAreFound(t *testing.T) {
	if raceEnabled && testing.Short() {
		t.Skip("the defects are found, or not, without the race detector")
	}
	for _, test := range []struct {
		name   string
		rule   string
		defect defect
	}{
		{"a client that repeats increments whose connection was lost", "once", incrementsRepeated},
		{"a client that repeats what a node calls ambiguous", "once", ambiguousRepeated},
		{"a client that takes an older map", "map", olderMapAccepted},
		{"a write that is acknowledged before a majority has it", "durable", levelNotSent},
		{"a node that applies a write and answers that the vbucket is not its own", "once", refusedAfterApply},
		{"a node that answers reads with what a replica has", "linearizable", staleReads},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			const attempts = 6 // not every order of goroutines shows every defect
			for seed := range uint64(attempts) {
				s := simulated(seed + 1)
				s.duration, s.operations, s.faults, s.defect = 5*time.Minute, 160, 60, test.defect
				s.lag = 30 * time.Millisecond
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
