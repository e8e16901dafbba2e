//go:build defects

package simulation

import (
	"slices"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/internal/devtools/defect"
)

// TestDefectsAreFound checks that a life shows each defect of a server or of our client, by the rule that the defect breaks.
func TestDefectsAreFound(t *testing.T) {
	for _, test := range []struct {
		name   string
		rule   string
		defect defect.Name
	}{
		{"a client that takes a new transaction number for a retry", "once", defect.NewTxnNumberOnRetry},
		{"a server that does not deduplicate", "once", defect.NoDeduplication},
		{"deduplication lost at a failover", "once", defect.DeduplicationLostAtFailover},
		{"acknowledgement before a majority has it", "once", defect.AcknowledgeBeforeMajority},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Cleanup(defect.Switch(test.defect))
			const attempts = 10 // not every order of goroutines shows every defect
			for seed := range uint64(attempts) {
				s := simulated(seed + 1)
				s.duration, s.operations = 5*time.Minute, 160
				s.faults = 60
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
