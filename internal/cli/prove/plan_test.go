package prove

import (
	"slices"
	"testing"
)

func TestThePlanIsAFunctionOfSeedFailureAndOperation(t *testing.T) {
	for _, f := range MongoDB.Failures() {
		a, b := newPlan(7, f, 10, 4), newPlan(7, f, 10, 4)
		other := newPlan(8, f, 10, 4)
		differs := false
		for i := range 1000 {
			id := OpID{i % 4, i / 4}
			first, ok := a.of(id)
			again, okAgain := b.of(id)
			if first != again || ok != okAgain {
				t.Fatalf("%s: the fault of %v is %v, then %v", f.Name, id, first, again)
			}
			_, okOther := other.of(id)
			differs = differs || ok != okOther
		}
		if !differs && f.Name != "outage" {
			t.Errorf("%s: another seed has the same plan", f.Name)
		}
	}
}

func mixedFailure(t *testing.T, b *Backend) Failure {
	t.Helper()
	f, err := b.FailuresNamed([]string{Mixed})
	if err != nil {
		t.Fatal(err)
	}
	return f[0]
}

func TestEachBlockHasOneFaultAndKindsAndMomentsAlternate(t *testing.T) {
	const every, writers, rounds = 10, 4, 40
	mixed := mixedFailure(t, MongoDB)
	kinds := len(mixed.faults) - 1 // all except the outage
	p := newPlan(3, mixed, every, writers)
	var count [faultKinds][2]int
	for block := range rounds * kinds {
		hits := 0
		for place := range every {
			n := block*every + place
			f, ok := p.of(OpID{n % writers, n / writers})
			if !ok {
				continue
			}
			hits++
			late := 0
			if f.late() {
				late = 1
			}
			count[f.kind][late]++
		}
		if hits != 1 {
			t.Fatalf("block %d has %d faults", block, hits)
		}
	}
	for _, kind := range mixed.faults {
		early, late := count[kind][0], count[kind][1]
		switch {
		case kind == Outage && early+late != 0:
			t.Errorf("the outage is planned %d times", early+late)
		case kind != Outage && early+late != rounds:
			t.Errorf("%s is planned %d times in %d rounds", kind, early+late, rounds)
		case len(kind.moments()) > 1 && early != late:
			t.Errorf("%s is planned %d times early and %d times late", kind, early, late)
		}
	}
}

func TestAKilledPrimaryFollowsARetryOnlyIfThereAreOthersToFollow(t *testing.T) {
	for _, c := range []struct {
		failure string
		writers int
		want    bool
	}{{Mixed, 4, true}, {Mixed, 1, false}, {"primary-killed", 4, false}} {
		f, err := MongoDB.FailuresNamed([]string{c.failure})
		if err != nil {
			t.Fatal(err)
		}
		p := newPlan(5, f[0], 10, c.writers)
		early := 0
		for n := range 4000 {
			one, ok := p.of(OpID{n % c.writers, n / c.writers})
			if !ok || one.kind != PrimaryKilled || one.late() {
				if one.follows {
					t.Errorf("%s, %d writers: %s follows", c.failure, c.writers, one.kind)
				}
				continue
			}
			early++
			if one.follows != c.want {
				t.Errorf("%s, %d writers: an early death of the primary follows: %t", c.failure, c.writers, one.follows)
			}
		}
		if early == 0 {
			t.Errorf("%s: no primary dies early", c.failure)
		}
	}
}

func TestTheBlockOfALostRequestIsAfterThatOfAKilledPrimary(t *testing.T) {
	p := newPlan(5, mixedFailure(t, MongoDB), 10, 4)
	for round := range 100 {
		order := p.order(round)
		if at := slices.Index(order, PrimaryKilled); at+1 >= len(order) || order[at+1] != RequestLost {
			t.Errorf("round %d: %v", round, order)
		}
	}
}

func TestOnlyCommandErrorsHitLaterAttempts(t *testing.T) {
	lost, refused := planned{kind: RequestLost}, planned{kind: CommandRefused, second: true}
	for _, c := range []struct {
		name     string
		f        planned
		twoSteps bool
		step     Step
		attempt  int
		want     bool
	}{
		{"the first attempt", lost, false, FirstStep, 0, true},
		{"the second attempt", lost, false, FirstStep, 1, false},
		{"the other step", lost, true, SecondStep, 0, false},
		{"the second attempt after a command error", refused, true, SecondStep, 1, true},
		{"a plain increment has only the first step", refused, false, FirstStep, 0, true},
	} {
		if got := c.f.strikes(c.twoSteps, c.step, c.attempt); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}
