package retry

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// moment is what happened to a budget at one time.
type moment struct {
	at        time.Duration
	granted   float64 // retries, less those given back
	successes float64
}

// checkEveryStretch checks the budget's promise for every stretch of a run, not only for those that begin with it.
func checkEveryStretch(t rapid.TB, o BudgetOptions, run []moment) {
	t.Helper()
	for i := range run {
		granted, successes := 0.0, 0.0
		for _, m := range run[i:] {
			granted += m.granted
			successes += m.successes
			limit := o.Burst + o.PerSecond*(m.at-run[i].at).Seconds() + o.Ratio*successes
			if granted > limit+1e-6 {
				t.Fatalf("from %v to %v: %v retries, and %+v promises at most %v", run[i].at, m.at, granted, o, limit)
			}
		}
	}
}

// step is one thing that happens to a budget, after a while.
type step struct {
	what   string
	passed time.Duration
	lag    time.Duration // how long before it came to the lock the caller read the clock
}

const (
	stepSucceed  = "succeed"
	stepTake     = "take"
	stepGiveBack = "give back"
)

// budgetSteps draws steps that are multiples of unit apart.
func budgetSteps(unit time.Duration) *rapid.Generator[[]step] {
	few := rapid.Custom(func(t *rapid.T) time.Duration {
		return unit * time.Duration(rapid.OneOf(rapid.Just(0), rapid.IntRange(0, 40)).Draw(t, "units"))
	})
	return runs(rapid.Custom(func(t *rapid.T) step {
		what := []string{stepSucceed, stepTake, stepTake, stepGiveBack}
		return step{rapid.SampledFrom(what).Draw(t, "what"), few.Draw(t, "passed"), few.Draw(t, "lag")}
	}), 100)
}

// runs draws short runs, which fail readably, and as many of about the length that is given, or twice it.
func runs[T any](of *rapid.Generator[T], length int) *rapid.Generator[[]T] {
	return rapid.OneOf(rapid.SliceOfN(of, 1, 10), rapid.SliceOfN(of, length, 2*length))
}

// runBudget takes a budget through the steps, and tells judge of every answer to a take.
func runBudget(t *rapid.T, o BudgetOptions, steps []step, judge func(now time.Duration, granted bool), other func(what string)) []moment {
	start := time.Unix(0, 0)
	var successes atomic.Uint64
	b := newBudget(o, &successes, start)
	var run []moment
	var clock, seen time.Duration
	outstanding := 0
	for _, s := range steps {
		clock += s.passed
		m := moment{at: seen}
		switch s.what {
		case stepSucceed:
			successes.Add(1)
			m.successes = 1
			other(s.what)
		case stepGiveBack:
			if outstanding == 0 {
				continue
			}
			b.payBack()
			outstanding--
			m.granted = -1
			other(s.what)
		case stepTake:
			now := max(clock-s.lag, 0)
			granted := b.pay(start.Add(now))
			judge(now, granted)
			seen = max(seen, now)
			m.at = seen
			if granted {
				outstanding++
				m.granted = 1
			}
		}
		run = append(run, m)
		if !(b.tokens >= 0 && b.tokens <= o.Burst) {
			t.Fatalf("%v tokens, and Burst is %v", b.tokens, o.Burst)
		}
	}
	return run
}

func TestNoStretchOfTimeHasMoreRetriesThanTheBudgetPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := BudgetOptions{
			Ratio:     rapid.Float64Range(0, 1).Draw(t, "ratio"),
			PerSecond: rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0, 100)).Draw(t, "per second"),
			Burst:     rapid.OneOf(rapid.Float64Range(1, 5), rapid.Float64Range(1, 1000)).Draw(t, "burst"),
		}
		steps := budgetSteps(7*time.Millisecond).Draw(t, "steps")
		run := runBudget(t, o, steps, func(time.Duration, bool) {}, func(string) {})
		checkEveryStretch(t, o, run)
	})
}

// The reference adds what is earned at once, and counts in whole parts of a token. All that is drawn is a multiple of one
// part, so that both sides are exact and one token too few is as wrong as one too many.
func TestTheBudgetGrantsWhatABucketFilledAtOnceGrants(t *testing.T) {
	const (
		parts     = 64 // of a token
		unit      = time.Second / 8
		unitParts = parts / 8 // what a unit of time earns at one per second
	)
	rapid.Check(t, func(t *rapid.T) {
		ratio := rapid.IntRange(0, parts).Draw(t, "ratio")
		perSecond := rapid.IntRange(0, 8).Draw(t, "per second")
		burst := rapid.IntRange(parts, 6*parts).Draw(t, "burst")
		o := BudgetOptions{Ratio: float64(ratio) / parts, PerSecond: float64(perSecond), Burst: float64(burst) / parts}

		tokens, at := burst, time.Duration(0)
		earn := func(n int) { tokens = min(burst, tokens+n) }
		run := runBudget(t, o, budgetSteps(unit).Draw(t, "steps"), func(now time.Duration, granted bool) {
			for ; at < now; at += unit {
				earn(perSecond * unitParts)
			}
			if want := tokens >= parts; granted != want {
				t.Fatalf("at %v: granted is %v, and there are %d/%d tokens", now, granted, tokens, parts)
			}
			if granted {
				tokens -= parts
			}
		}, func(what string) {
			if what == stepSucceed {
				earn(ratio)
			} else {
				earn(parts)
			}
		})
		checkEveryStretch(t, o, run)
	})
}

func TestBudgetBoundaries(t *testing.T) {
	start := time.Unix(0, 0)
	filled := func(o BudgetOptions) (*budget, *atomic.Uint64) {
		successes := new(atomic.Uint64)
		return newBudget(o, successes, start), successes
	}
	granted := func(b *budget, at time.Duration) (n int) {
		for b.pay(start.Add(at)) {
			n++
		}
		return n
	}
	for _, c := range []struct {
		name string
		o    BudgetOptions
		want []int // granted at once, a second later, after four successes, an hour later
	}{
		{"to begin with there is Burst, of which whole tokens count", BudgetOptions{Burst: 3.5}, []int{3, 0, 0, 0}},
		{"each second allows PerSecond", BudgetOptions{Burst: 2, PerSecond: 1}, []int{2, 1, 0, 2}},
		{"each success allows Ratio", BudgetOptions{Burst: 2, Ratio: 0.25}, []int{2, 0, 1, 0}},
		{"no more than Burst is saved up", BudgetOptions{Burst: 1, PerSecond: 9, Ratio: 1}, []int{1, 1, 1, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, successes := filled(c.o)
			got := []int{granted(b, 0), granted(b, time.Second)}
			successes.Add(4)
			got = append(got, granted(b, time.Second), granted(b, time.Hour))
			for i := range got {
				if got[i] != c.want[i] {
					t.Errorf("granted %v, want %v", got, c.want)
				}
			}
		})
	}
}

// A tenth is no binary fraction: ten of them are one retry all the same.
func TestTenthsOfARetryAddUp(t *testing.T) {
	for name, c := range map[string]struct {
		o     BudgetOptions
		every time.Duration
		earns uint64
	}{
		"of successes": {BudgetOptions{Burst: 1, Ratio: 0.1}, 0, 1},
		"of seconds":   {BudgetOptions{Burst: 1, PerSecond: 0.1}, time.Second, 0},
	} {
		successes, now := new(atomic.Uint64), time.Unix(0, 0)
		b := newBudget(c.o, successes, now)
		b.pay(now)
		for round := range 50 {
			steps := 0
			for taken := false; !taken; steps++ {
				now = now.Add(c.every)
				successes.Add(c.earns)
				taken = b.pay(now)
			}
			if steps != 10 {
				t.Fatalf("%s: round %d took %d, want 10", name, round, steps)
			}
		}
	}
}

// Ratio is 1 and Burst is never reached, so what is there in the end is exact whatever came between what.
func TestNoTokenIsLostOrMadeByConcurrency(t *testing.T) {
	const callers, rounds, burst = 8, 500, 8 * 500 * 4
	successes := new(atomic.Uint64)
	start := time.Unix(0, 0)
	b := newBudget(BudgetOptions{Ratio: 1, Burst: burst}, successes, start)
	for range burst / 2 {
		b.pay(start)
	}
	var kept atomic.Int64
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() {
			for i := range rounds {
				successes.Add(1)
				if !b.pay(start.Add(time.Duration(i - caller))) {
					t.Error("a token was refused that is there")
				}
				if i%2 == 0 {
					b.payBack()
				} else {
					kept.Add(1)
				}
			}
		})
	}
	all.Wait()
	left := int64(0)
	for b.pay(start) {
		left++
	}
	if want := int64(burst/2+callers*rounds) - kept.Load(); left != want {
		t.Errorf("%d tokens are left, want %d", left, want)
	}
}
