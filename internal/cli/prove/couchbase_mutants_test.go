package prove

import (
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/base/mutant"
)

// couchbaseControl is a negative control: the experiment must notice this defect.
type couchbaseControl struct {
	name, strategy, failure string
	client                  mutant.CouchbaseClient
	server                  mutant.CouchbaseServer
	// heldMaps means servers from before the client names the version of its map, of which those that are rebalanced out learn no newer one.
	heldMaps bool
	// shows is the element of the verdict that shows the defect; a cell without a defect does not have it.
	shows Verdict
}

var couchbaseControls = []couchbaseControl{
	{
		name: "increments-idempotent", strategy: BestEffort, failure: Mixed, shows: OverCounts,
		client: mutant.CouchbaseClient{IncrementsIdempotent: true},
	},
	{
		name: "a3-retried", strategy: BestEffort, failure: Mixed, shows: OverCounts,
		client: mutant.CouchbaseClient{SyncWriteAmbiguousRetried: true},
	},
	{
		name: "older-map-accepted", strategy: BestEffortDurable, failure: "rebalance", shows: Ambiguous, heldMaps: true,
		client: mutant.CouchbaseClient{OlderMapAccepted: true},
	},
	{
		name: "timeout-unambiguous", strategy: BestEffort, failure: Mixed, shows: Misreports,
		client: mutant.CouchbaseClient{TimeoutsUnambiguous: true},
	},
	{
		name: "not-my-vbucket-after-apply", strategy: BestEffort, failure: Mixed, shows: OverCounts,
		server: mutant.CouchbaseServer{NotMyVBucketAfterApply: true},
	},
	{
		name: "acknowledge-before-majority", strategy: BestEffortDurable, failure: Mixed, shows: LosesDurable,
		server: mutant.CouchbaseServer{AcknowledgeBeforeMajority: true},
	},
}

// trial returns a cell of the command with the defect.
func (c couchbaseControl) trial(seed int) trial {
	tr := couchbaseTrial(c.strategy, seed)
	tr.failure = c.failure
	d := CouchbaseMemory()
	d.clientOf = mutant.ClientConnect[func(string, couchbase.Config, couchbase.ClusterOptions) (*couchbase.Cluster, error)](c.client)
	d.more = append(d.more, mutant.ServerOption[couchbasetest.Option](c.server))
	if d.heldMaps = c.heldMaps; c.heldMaps {
		d.more = append(d.more, couchbasetest.Version("6.6"))
		tr.settings.Timing.Durable = 10 * time.Second // a client asks another node for the map every 2.5 s
		// A client that takes an older map leaves the nodes that are new, with durable writes on their way that last longer than it waits.
		tr.settings.ReplicationDelay = 1200 * time.Millisecond
	}
	tr.deployment = d
	return tr
}

func TestMutantsOfCouchbaseAreCaught(t *testing.T) {
	for _, c := range couchbaseControls {
		t.Run(c.name, func(t *testing.T) {
			caught := 0
			for i, r := range overSeeds(t, "seeds", c.trial) {
				if r.Error == "" && r.Verdict&^(r.Expected.Must|r.Expected.May)&c.shows != Right {
					caught++
					continue
				}
				t.Errorf("seed %d: the mutant was not caught", i+1)
				explain(t, i+1, r)
			}
			figure("prove-cb-mutants-caught-"+c.name, caught)
		})
	}
}

// The world of a control alone must not cause a bad verdict.
func TestTheWorldsOfCouchbaseAloneAreHarmless(t *testing.T) {
	for _, c := range couchbaseControls {
		c.client, c.server = mutant.CouchbaseClient{}, mutant.CouchbaseServer{}
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
