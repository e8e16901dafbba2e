package simulation

import (
	"testing"

	"github.com/holdfast-db/holdfast/interop/internal/simlife"
)

func TestAPlanIsAFunctionOfTheSeedAndHasEachKindOfFault(t *testing.T) {
	for _, life := range []func(seed uint64) settings{simulated, routed} {
		planOf := func(seed uint64) plan { return newPlan(life(seed)) }
		simlife.CheckPlans(t, planOf, life(1).faultNames(), func(f planned) string { return f.kind })
	}
}

func TestTheSharesOfTheKindsOfOperationsAreAHundred(t *testing.T) {
	sum := 0
	for _, k := range kinds() {
		sum += k.share
	}
	if sum != 100 {
		t.Errorf("the shares are %d", sum)
	}
}
