package prove

import (
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/internal/mutant"
)

// lag is the replication lag that makes the defect acknowledge-before-majority visible.
const lag = 5 * time.Millisecond

// mutants are the negative controls: the experiment must detect these defects.
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

// The replication lag alone must not cause a bad verdict.
func TestLagAloneIsHarmless(t *testing.T) {
	results := overSeeds(t, "lag", func(seed int) trial {
		s := figureSettings(seed)
		s.ReplicationDelay = lag
		return trial{strategy: RetryableWrites, settings: s}
	})
	for i, r := range results {
		if !r.AsExpected() {
			t.Errorf("seed %d: the lag alone causes a bad verdict", i+1)
			explain(t, i+1, r)
		}
	}
}
