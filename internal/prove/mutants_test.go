package prove

import (
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/internal/mutant"
)

// lag makes what is acknowledged before a majority has it stay so for a while, as it does between real machines.
const lag = 5 * time.Millisecond

// The negative controls: an experiment that does not notice these defects would show nothing.
var mutants = []struct {
	name    string
	servers mutant.Server
	client  mutant.Client
	lag     time.Duration
}{
	{name: "no-deduplication", servers: mutant.Server{NoDeduplication: true}},
	{name: "deduplication-lost-at-failover", servers: mutant.Server{DeduplicationLostAtFailover: true}},
	{name: "acknowledge-before-majority", servers: mutant.Server{AcknowledgeBeforeMajority: true}, lag: lag},
	{name: "new-txn-number-on-retry", client: mutant.Client{NewTxnNumberOnRetry: true}},
}

func TestMutantsAreCaught(t *testing.T) {
	for _, m := range mutants {
		caught := 0
		results := overSeeds(t, m.name, func(seed int) trial {
			s := figureSettings(seed)
			s.ReplicationDelay = m.lag
			return trial{strategy: RetryableWrites, settings: s, servers: m.servers, client: m.client}
		})
		for i, r := range results {
			if r.Counts.Missing+r.Counts.Extra+r.Counts.Misreported > 0 && r.Error == "" {
				caught++
				continue
			}
			t.Errorf("seed %d: the mutant %s was not caught", i+1, m.name)
			explain(t, i+1, r)
		}
		figure("prove-mutants-caught-"+m.name, caught)
	}
}

// What catches a mutant must not be the lag that is needed to see it.
func TestLagAloneIsHarmless(t *testing.T) {
	results := overSeeds(t, "lag", func(seed int) trial {
		s := figureSettings(seed)
		s.ReplicationDelay = lag
		return trial{strategy: RetryableWrites, settings: s}
	})
	for i, r := range results {
		if !r.AsExpected() {
			t.Errorf("seed %d: lag alone has done harm", i+1)
			explain(t, i+1, r)
		}
	}
}
