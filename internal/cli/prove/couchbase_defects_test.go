//go:build defects

package prove

import (
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/devtools/defect"
)

// couchbaseControl is a negative control: the experiment must notice this defect.
type couchbaseControl struct {
	name, strategy, failure string
	defect                  defect.Name
	heldMaps                bool // the world is that of heldMaps
	// shows is the element of the verdict that shows the defect; a cell without a defect does not have it.
	shows Verdict
}

var couchbaseControls = []couchbaseControl{
	{
		name: "increments-idempotent", strategy: BestEffort, failure: Mixed, shows: OverCounts,
		defect: defect.IncrementsIdempotent,
	},
	{
		name: "a3-retried", strategy: BestEffort, failure: Mixed, shows: OverCounts,
		defect: defect.SyncWriteAmbiguousRetried,
	},
	{
		name: "older-map-accepted", strategy: BestEffortDurable, failure: "rebalance", shows: Ambiguous, heldMaps: true,
		defect: defect.OlderMapAccepted,
	},
	{
		name: "timeout-unambiguous", strategy: BestEffort, failure: Mixed, shows: Misreports,
		defect: defect.TimeoutsUnambiguous,
	},
	{
		name: "not-my-vbucket-after-apply", strategy: BestEffort, failure: Mixed, shows: OverCounts,
		defect: defect.NotMyVBucketAfterApply,
	},
	{
		name: "acknowledge-before-majority", strategy: BestEffortDurable, failure: Mixed, shows: LosesDurable,
		defect: defect.DurableBeforeMajority,
	},
}

// trial returns a cell of the command.
func (c couchbaseControl) trial(seed int) trial {
	tr := couchbaseTrial(c.strategy, seed)
	tr.failure = c.failure
	if c.heldMaps {
		d := CouchbaseMemory()
		d.more = []couchbasetest.Option{couchbasetest.Version("6.6")}
		tr.deployment = heldMaps{d}
		tr.settings.Timing.Durable = 10 * time.Second // a client asks another node for the map every 2.5 s
		// A client that takes an older map leaves the nodes that are new, with durable writes on their way that last longer than it waits.
		tr.settings.ReplicationDelay = 1200 * time.Millisecond
	}
	return tr
}

// heldMaps is a world of servers from before a client names the version of its map. Those that are rebalanced out learn no newer one.
type heldMaps struct{ *CouchbaseClusters }

func (h heldMaps) open(c *cell) (site, error) {
	s, err := h.CouchbaseClusters.open(c)
	if err != nil {
		return nil, err
	}
	return heldMapsSite{s.(*couchbaseSite)}, nil
}

type heldMapsSite struct{ *couchbaseSite }

// staleMapTime is how long a node that holds its map stays after all its vbuckets have moved, so that clients may ask it for the map.
const staleMapTime = 10 * time.Second

// strike does not wait for the clients after a new node was added: the servers do not tell them.
func (s heldMapsSite) strike(f *planned, document string) (repair func() error, err error) {
	if f.kind != Rebalanced {
		return s.couchbaseSite.strike(f, document)
	}
	node := s.Owners(bucketName, document)[0]
	if node < 0 {
		return nil, errNoOwner
	}
	if _, err := s.AddNode(); err != nil {
		return nil, err
	}
	s.HoldMaps(node)
	r, err := s.StartRebalance(node)
	if err != nil {
		return nil, err
	}
	return s.moveAway(r, node, document, staleMapTime), nil
}

func TestDefectsWithCouchbaseAreCaught(t *testing.T) {
	for _, c := range couchbaseControls {
		t.Run(c.name, func(t *testing.T) {
			t.Cleanup(defect.Switch(c.defect))
			caught := 0
			for i, r := range overSeeds(t, "seeds", c.trial) {
				if r.Error == "" && r.Verdict&^(r.Expected.Must|r.Expected.May)&c.shows != Right {
					caught++
					continue
				}
				t.Errorf("seed %d: the defect was not caught", i+1)
				explain(t, i+1, r)
			}
			figure("prove-cb-mutants-caught-"+c.name, caught)
		})
	}
}

// The world of a control alone must not cause a bad verdict.
func TestTheWorldsOfCouchbaseAloneAreHarmless(t *testing.T) {
	for _, c := range couchbaseControls {
		if !c.heldMaps {
			continue
		}
		for i, r := range overSeeds(t, c.name, c.trial) {
			if !r.AsExpected() {
				t.Errorf("%s, seed %d is not as expected", c.name, i+1)
				explain(t, i+1, r)
			}
		}
	}
}
