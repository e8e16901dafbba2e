package simulation

import (
	"reflect"
	"testing"
)

func TestAPlanIsAFunctionOfTheSeedAndHasEachKindOfFault(t *testing.T) {
	for seed := range uint64(50) {
		p := newPlan(simulated(seed))
		if !reflect.DeepEqual(p, newPlan(simulated(seed))) {
			t.Fatalf("seed %d has two plans", seed)
		}
		if p.size() < leastFaults {
			t.Errorf("seed %d has %d faults", seed, p.size())
		}
		has := make(map[string]bool)
		for _, list := range p.byWorker {
			for _, f := range list {
				has[f.kind] = true
			}
		}
		for _, k := range faultKinds() {
			if !has[k.name] {
				t.Errorf("seed %d has no %q", seed, k.name)
			}
		}
	}
	if reflect.DeepEqual(newPlan(simulated(1)), newPlan(simulated(2))) {
		t.Error("two seeds have one plan")
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
