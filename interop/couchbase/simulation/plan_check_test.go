package simulation

import (
	"testing"

	"github.com/holdfast-db/holdfast/interop/internal/simlife"
)

func TestAPlanIsAFunctionOfTheSeedAndHasEachKindOfFault(t *testing.T) {
	planOf := func(seed uint64) plan { return newPlan(simulated(seed)) }
	simlife.CheckPlans(t, planOf, faultNames(), func(f planned) string { return f.kind })
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
