//go:build defects

package prove

import (
	"testing"

	"github.com/holdfast-db/holdfast/internal/devtools/defect"
)

// defectControls are the negative controls of the defects inside the servers of MongoDB and their client.
var defectControls = []struct {
	control
	defect defect.Name
}{
	{control{name: "no-deduplication", shows: OverCounts}, defect.NoDeduplication},
	{control{name: "deduplication-lost-at-failover", shows: OverCounts}, defect.DeduplicationLostAtFailover},
	{control{name: "acknowledge-before-majority", shows: UnderCounts}, defect.AcknowledgeBeforeMajority},
	{control{name: "new-txn-number-on-retry", shows: OverCounts}, defect.NewTxnNumberOnRetry},
	{control{name: "write-concern-lowered-on-retry", shows: UnderCounts}, defect.LowerWriteConcernOnRetry},
	{control{name: "rollback-keeps-data", failure: "primary-killed-w1", says: "by the server's journal"}, defect.RollbackKeepsData},
	{control{name: "sessions-forgotten-on-rollback", failure: "partition", shows: OverCounts, adjust: withReturningPrimary}, defect.RollbackForgetsSessions},
}

func TestDefectsAreCaught(t *testing.T) {
	for _, c := range defectControls {
		t.Run(c.name, func(t *testing.T) {
			t.Cleanup(defect.Switch(c.defect))
			c.mustBeCaught(t)
		})
	}
}
