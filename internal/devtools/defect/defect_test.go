package defect_test

import (
	"testing"

	"github.com/holdfast-db/holdfast/internal/devtools/defect"
)

func TestADefectIsOnUntilItIsSwitchedOff(t *testing.T) {
	on := func(want ...bool) {
		t.Helper()
		for i, d := range []defect.Name{defect.NoDeduplication, defect.NewTxnNumberOnRetry, defect.AuditReadsSecondary} {
			if defect.On(d) != want[i] {
				t.Errorf("defect %d is on: %t, want %t", d, defect.On(d), want[i])
			}
		}
	}
	on(false, false, false)
	two := defect.Switch(defect.NoDeduplication, defect.AuditReadsSecondary)
	on(true, false, true)
	one := defect.Switch(defect.NewTxnNumberOnRetry)
	two()
	on(false, true, false)
	one()
	on(false, false, false)
}
