//go:build defects

package simulation

import (
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/internal/devtools/defect"
	"github.com/holdfast-db/holdfast/interop/internal/simcheck"
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
			simcheck.MustBreak(t, test.rule, 10, func(seed uint64) []violation {
				s := simulated(seed)
				s.Duration, s.Operations, s.Faults = 5*time.Minute, 160, 60
				return liveInBubble(t, s).check()
			})
		})
	}
}
