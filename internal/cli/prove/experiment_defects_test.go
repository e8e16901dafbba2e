//go:build defects

package prove

import (
	"testing"

	"github.com/holdfast-db/holdfast/internal/devtools/defect"
)

// outcome is the kind of a cell's result.
type outcome string

const (
	asExpected        outcome = "as expected"
	notShown          outcome = "not shown"
	refusedByAudit    outcome = "refused by the audit"
	unexpectedVerdict outcome = "an unexpected verdict"
)

func outcomeOf(r Result) outcome {
	switch {
	case r.AsExpected():
		return asExpected
	case r.Error != "":
		return refusedByAudit
	case r.NotShown != "":
		return notShown
	}
	return unexpectedVerdict
}

// experimentControls are the negative controls of the experiment itself. In its world a sound experiment has the
// outcome sound, and one with the defect must have another.
var experimentControls = []struct {
	control
	// world are the defects that the sound experiment has too.
	world  []defect.Name
	defect defect.Name
	sound  outcome
}{
	{
		// Two-step at write concern 1 may lose operations or not, so the verdict does not show that the servers made lost
		// ones again. Only their journal does.
		control{name: "audit-not-compared", strategy: TwoStep, failure: "primary-killed-w1"},
		[]defect.Name{defect.RollbackKeepsData},
		defect.AuditNotCompared,
		refusedByAudit,
	},
	{
		control{name: "planned-faults-counted", failure: "request-lost", adjust: withoutFaults},
		nil, defect.PlannedFaultsCounted,
		notShown,
	},
	{
		control{name: "audit-reads-secondary", failure: "request-lost", adjust: withOldSecondary},
		nil, defect.AuditReadsSecondary,
		asExpected,
	},
}

func TestDefectsOfTheExperimentAreCaught(t *testing.T) {
	for _, c := range experimentControls {
		t.Run(c.name, func(t *testing.T) {
			t.Cleanup(defect.Switch(c.world...))
			sound := overSeeds(t, "sound", c.trial)
			t.Cleanup(defect.Switch(c.defect))
			defective := overSeeds(t, "defective", c.trial)
			caught := 0
			for i := range sound {
				if outcomeOf(sound[i]) == c.sound && outcomeOf(defective[i]) != c.sound {
					caught++
					continue
				}
				t.Errorf("seed %d: the defect was not caught: a sound experiment is %s, want %s; with the defect it is %s",
					i+1, outcomeOf(sound[i]), c.sound, outcomeOf(defective[i]))
				explain(t, i+1, sound[i])
				explain(t, i+1, defective[i])
			}
			figure("prove-mutants-caught-"+c.name, caught)
		})
	}
}
