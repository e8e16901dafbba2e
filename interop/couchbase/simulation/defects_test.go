//go:build defects

package simulation

import (
	"testing"

	"github.com/holdfast-db/holdfast/internal/devtools/defect"
)

// TestDefectsAreFound checks that a life shows each defect of a node or of our client, by the rule that the defect breaks.
func TestDefectsAreFound(t *testing.T) {
	for _, test := range []struct {
		name   string
		rule   string
		defect defect.Name
	}{
		{"a client to which increments are idempotent", "once", defect.IncrementsIdempotent},
		{"a client that retries what a node calls ambiguous", "once", defect.SyncWriteAmbiguousRetried},
		{"a client that takes an older map", "map", defect.OlderMapAccepted},
		{"a client that calls each timeout unambiguous", "error", defect.TimeoutsUnambiguous},
		{"a node that acknowledges before a majority has the write", "durable", defect.DurableBeforeMajority},
		{"a node that applies a write and answers that the vbucket is not its own", "once", defect.NotMyVBucketAfterApply},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Cleanup(defect.Switch(test.defect))
			mustBreak(t, test.rule, func(*settings) {})
		})
	}
}
