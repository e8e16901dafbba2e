package simlife

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"
)

// Plan is all faults of a life, by worker: a function of the seed.
type Plan[F any] [][]F

// NewPlan makes a plan with each kind of fault once, and with as many more as the load says, in any order, spread over the operations. It
// calls next for the fault of an operation of a worker.
func NewPlan[F any](l Load, r *rand.Rand, kinds []string, next func(kind string, worker, number int) F) Plan[F] {
	all := slices.Clone(kinds)
	for range l.Faults {
		all = append(all, kinds[r.IntN(len(kinds))])
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	p := make(Plan[F], l.Workers)
	last := l.Operations * 9 / 10 // late faults would not all find an operation
	for i, kind := range all {
		worker := r.IntN(l.Workers)
		p[worker] = append(p[worker], next(kind, worker, last*i/len(all)))
	}
	return p
}

// Size is the number of faults.
func (p Plan[F]) Size() (n int) {
	for _, list := range p {
		n += len(list)
	}
	return n
}

// HoldTime returns for how long a fault lasts: mostly a few seconds, and up to half a minute.
func HoldTime(r *rand.Rand) time.Duration {
	if r.IntN(5) == 0 {
		return time.Duration(r.Int64N(int64(35 * time.Second)))
	}
	return 200*time.Millisecond + time.Duration(r.Int64N(int64(6*time.Second)))
}

// CheckPlans checks that a plan is a function of the seed, has enough faults, and has each kind of them.
func CheckPlans[F any](t *testing.T, planOf func(seed uint64) Plan[F], kinds []string, kindOf func(F) string) {
	t.Helper()
	for seed := range uint64(50) {
		p := planOf(seed)
		if !reflect.DeepEqual(p, planOf(seed)) {
			t.Fatalf("seed %d has two plans", seed)
		}
		if p.Size() < LeastFaults {
			t.Errorf("seed %d has %d faults", seed, p.Size())
		}
		has := make(map[string]bool)
		for _, f := range slices.Concat(p...) {
			has[kindOf(f)] = true
		}
		for _, kind := range kinds {
			if !has[kind] {
				t.Errorf("seed %d has no %q", seed, kind)
			}
		}
	}
	if reflect.DeepEqual(planOf(1), planOf(2)) {
		t.Error("two seeds have one plan")
	}
}
