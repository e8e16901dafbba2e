package retry

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// moment holds the events of a budget at one time.
type moment struct {
	at        time.Duration
	paid      float64 // tokens, less those paid back
	successes float64
}

// checkEveryPeriod checks the budget's limit for every period of a run, also for those that begin later than the run.
func checkEveryPeriod(t rapid.TB, o BudgetOptions, run []moment) {
	t.Helper()
	for i := range run {
		paid, successes := 0.0, 0.0
		for _, m := range run[i:] {
			paid += m.paid
			successes += m.successes
			limit := o.Burst + o.PerSecond*(m.at-run[i].at).Seconds() + o.Ratio*successes
			if paid > limit+1e-6 {
				t.Fatalf("from %v to %v: %v tokens were paid, and %+v allows %v", run[i].at, m.at, paid, o, limit)
			}
		}
	}
}

// step is one event of a budget.
type step struct {
	what   string
	passed time.Duration // since the step before
	lag    time.Duration // between the caller's reading of the clock and the step
}

const (
	stepSucceed = "succeed"
	stepPay     = "pay"
	stepPayBack = "pay back"
)

// budgetSteps draws steps that are multiples of unit apart.
func budgetSteps(unit time.Duration) *rapid.Generator[[]step] {
	few := rapid.Custom(func(t *rapid.T) time.Duration {
		return unit * time.Duration(rapid.OneOf(rapid.Just(0), rapid.IntRange(0, 40)).Draw(t, "units"))
	})
	return runs(rapid.Custom(func(t *rapid.T) step {
		what := []string{stepSucceed, stepPay, stepPay, stepPayBack}
		return step{rapid.SampledFrom(what).Draw(t, "what"), few.Draw(t, "passed"), few.Draw(t, "lag")}
	}), 100)
}

// runs draws short runs, whose failures are easy to read, and as many runs of length to twice length.
func runs[T any](of *rapid.Generator[T], length int) *rapid.Generator[[]T] {
	return rapid.OneOf(rapid.SliceOfN(of, 1, 10), rapid.SliceOfN(of, length, 2*length))
}

// counted returns a budget with one engine, and the successes of that engine.
func counted(o BudgetOptions, now time.Time) (*Budget, *counter) {
	b, e := newBudget(o, now), newEngine(RetryOnce())
	b.join(e, e.successes)
	return b, e.successes
}

// runBudget makes the steps. It calls check after each payment and other after each other step.
func runBudget(t *rapid.T, o BudgetOptions, steps []step, check func(now time.Duration, paid bool), other func(what string)) []moment {
	start := time.Unix(0, 0)
	b, successes := counted(o, start)
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
		case stepPayBack:
			if outstanding == 0 {
				continue
			}
			b.payBack()
			outstanding--
			m.paid = -1
			other(s.what)
		case stepPay:
			now := max(clock-s.lag, 0)
			paid := b.pay(start.Add(now))
			check(now, paid)
			seen = max(seen, now)
			m.at = seen
			if paid {
				outstanding++
				m.paid = 1
			}
		}
		run = append(run, m)
		if !(b.tokens >= 0 && b.tokens <= o.Burst) {
			t.Fatalf("%v tokens, and Burst is %v", b.tokens, o.Burst)
		}
	}
	return run
}

func TestNoPeriodHasMoreRetriesThanTheBudgetAllows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := BudgetOptions{
			Ratio:     rapid.Float64Range(0, 1).Draw(t, "ratio"),
			PerSecond: rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0, 100)).Draw(t, "per second"),
			Burst:     rapid.OneOf(rapid.Float64Range(1, 5), rapid.Float64Range(1, 1000)).Draw(t, "burst"),
		}
		steps := budgetSteps(7*time.Millisecond).Draw(t, "steps")
		run := runBudget(t, o, steps, func(time.Duration, bool) {}, func(string) {})
		checkEveryPeriod(t, o, run)
	})
}

// The reference bucket is refilled at each step, and counts in whole parts of a token. All numbers are multiples of one part, so
// both sides are exact: one token too few is as wrong as one too many.
func TestTheBudgetPaysAsABucketThatIsRefilledAtEachStep(t *testing.T) {
	const (
		parts     = 64 // of a token
		unit      = time.Second / 8
		unitParts = parts / 8 // that a unit of time adds at one token a second
	)
	rapid.Check(t, func(t *rapid.T) {
		ratio := rapid.IntRange(0, parts).Draw(t, "ratio")
		perSecond := rapid.IntRange(0, 8).Draw(t, "per second")
		burst := rapid.IntRange(parts, 6*parts).Draw(t, "burst")
		o := BudgetOptions{Ratio: float64(ratio) / parts, PerSecond: float64(perSecond), Burst: float64(burst) / parts}

		tokens, at := burst, time.Duration(0)
		add := func(n int) { tokens = min(burst, tokens+n) }
		run := runBudget(t, o, budgetSteps(unit).Draw(t, "steps"), func(now time.Duration, paid bool) {
			for ; at < now; at += unit {
				add(perSecond * unitParts)
			}
			if want := tokens >= parts; paid != want {
				t.Fatalf("at %v: paid is %v, and there are %d/%d tokens", now, paid, tokens, parts)
			}
			if paid {
				tokens -= parts
			}
		}, func(what string) {
			if what == stepSucceed {
				add(ratio)
			} else {
				add(parts)
			}
		})
		checkEveryPeriod(t, o, run)
	})
}

func TestBudgetBoundaries(t *testing.T) {
	start := time.Unix(0, 0)
	payAll := func(b *Budget, at time.Duration) (n int) {
		for b.pay(start.Add(at)) {
			n++
		}
		return n
	}
	for _, c := range []struct {
		name string
		o    BudgetOptions
		want []int // tokens: at once, a second later, after four successes, an hour later
	}{
		{"at the beginning there are Burst tokens; whole ones count", BudgetOptions{Burst: 3.5}, []int{3, 0, 0, 0}},
		{"each second adds PerSecond", BudgetOptions{Burst: 2, PerSecond: 1}, []int{2, 1, 0, 2}},
		{"each success adds Ratio", BudgetOptions{Burst: 2, Ratio: 0.25}, []int{2, 0, 1, 0}},
		{"there are never more than Burst", BudgetOptions{Burst: 1, PerSecond: 9, Ratio: 1}, []int{1, 1, 1, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, successes := counted(c.o, start)
			got := []int{payAll(b, 0), payAll(b, time.Second)}
			successes.Add(4)
			got = append(got, payAll(b, time.Second), payAll(b, time.Hour))
			for i := range got {
				if got[i] != c.want[i] {
					t.Errorf("%v tokens, want %v", got, c.want)
				}
			}
		})
	}
}

// A tenth is not a binary fraction, but ten of them must be one token.
func TestTenthsOfATokenAddUp(t *testing.T) {
	for name, c := range map[string]struct {
		o     BudgetOptions
		every time.Duration
		adds  uint64
	}{
		"of successes": {BudgetOptions{Burst: 1, Ratio: 0.1}, 0, 1},
		"of seconds":   {BudgetOptions{Burst: 1, PerSecond: 0.1}, time.Second, 0},
	} {
		now := time.Unix(0, 0)
		b, successes := counted(c.o, now)
		b.pay(now)
		for round := range 50 {
			steps := 0
			for paid := false; !paid; steps++ {
				now = now.Add(c.every)
				successes.Add(c.adds)
				paid = b.pay(now)
			}
			if steps != 10 {
				t.Fatalf("%s: round %d has %d steps, want 10", name, round, steps)
			}
		}
	}
}

// Ratio is 1 and the bucket is never full, so the number of tokens at the end does not depend on the order of the steps.
func TestConcurrencyLosesAndMakesNoToken(t *testing.T) {
	const callers, rounds, burst = 8, 500, 8 * 500 * 4
	start := time.Unix(0, 0)
	b, successes := counted(BudgetOptions{Ratio: 1, Burst: burst}, start)
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
					t.Error("no token, although there are some")
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
