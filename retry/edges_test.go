package retry

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"
)

func TestDoublingEndsAtTheLimit(t *testing.T) {
	for _, c := range []struct {
		base  time.Duration
		n     int
		limit time.Duration
		want  time.Duration
	}{
		{1, 0, 100, 1},
		{1, 1, 100, 2},
		{1, 6, 100, 64},
		{1, 7, 100, 100},
		{1, 1000, 100, 100},
		{2, 1, 5, 4},
		{3, 1, 5, 5},
		{200, 0, 100, 100},
		{200, 3, 100, 100},
		{1, 1, math.MaxInt64, 2},
		{math.MaxInt64 - 1, 1, math.MaxInt64, math.MaxInt64},
		{1, 62, math.MaxInt64, 1 << 62},
		{1, 63, math.MaxInt64, math.MaxInt64},
	} {
		if got := doubled(c.base, c.n, c.limit); got != c.want {
			t.Errorf("%d doubled %d times, at most %d: %d, want %d", c.base, c.n, c.limit, got, c.want)
		}
	}
}

// The delay comes near to its ceiling, and never above it: a hundredth more or less would show in so many delays.
func TestTheCeilingOfTheOverloadBackoff(t *testing.T) {
	for _, c := range []struct {
		n    int
		base time.Duration
		want time.Duration
	}{
		{1, 0, 200 * time.Millisecond},
		{1, -time.Second, 200 * time.Millisecond},
		{2, 0, 400 * time.Millisecond},
		{1, time.Millisecond, 2 * time.Millisecond},
		{1, 1, 2},
		{10, 0, 10 * time.Second},
	} {
		var longest time.Duration
		for range 10_000 {
			longest = max(longest, OverloadBackoff(c.n, c.base))
		}
		if longest > c.want || float64(longest) < 0.995*float64(c.want)-1 {
			t.Errorf("retry %d with a base of %v: the longest delay is %v, want almost %v", c.n, c.base, longest, c.want)
		}
	}
}

// late is a context that does not end when its deadline comes.
type late struct {
	context.Context
	deadline time.Time
}

func (l late) Deadline() (time.Time, bool) { return l.deadline, true }

// A context that is late is waited for, but not for long.
func TestAContextThatDoesNotEndAtItsDeadlineIsNotWaitedForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := made(t, Options{Strategy: BestEffort(BackoffOptions{Min: time.Hour, Max: time.Hour}), DeadlineMode: DeadlineCapDelay})
		start := time.Now()
		err := e.Do(late{t.Context(), start.Add(time.Second)}, Operation{Idempotency: Idempotent}, func(context.Context, int) Failure {
			return Failure{Err: errBroken, Reason: ReasonNetworkError}
		})
		var failed *Error
		if !errors.As(err, &failed) || failed.StopReason() != StopDeadlineWouldPass || time.Since(start) != time.Second+10*time.Millisecond {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}

// slow is an observer, and a strategy, that takes its time.
type slow time.Duration

func (s slow) Observe(_ context.Context, e Event) {
	if e.Kind == EventAttemptFailed {
		<-time.After(time.Duration(s))
	}
}

func (s slow) RetryAfter(context.Context, OperationState, Failure) (Action, error) {
	<-time.After(time.Duration(s))
	return After(50 * time.Millisecond), nil
}

// With a breaker the clock was read before observer and strategy took their time: it is read again.
func TestTheTimeThatObserverAndStrategyTakeCountsWithABreakerToo(t *testing.T) {
	after := StrategyFunc(func(context.Context, OperationState, Failure) (Action, error) {
		return After(50 * time.Millisecond), nil
	})
	for name, o := range map[string]Options{
		"observer": {Strategy: after, Observer: slow(60 * time.Millisecond)},
		"strategy": {Strategy: slow(60 * time.Millisecond)},
	} {
		synctest.Test(t, func(t *testing.T) {
			o.Breaker = DefaultBreakerOptions()
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			start := time.Now()
			err := made(t, o).Do(ctx, Operation{Idempotency: Idempotent}, func(context.Context, int) Failure {
				return Failure{Err: errBroken, Reason: ReasonNetworkError}
			})
			var failed *Error
			if !errors.As(err, &failed) || failed.StopReason() != StopDeadlineWouldPass || time.Since(start) != 60*time.Millisecond {
				t.Errorf("%s: after %v: %v", name, time.Since(start), err)
			}
		})
	}
}

// The ends of what the options allow.
func TestTheEndsOfTheOptions(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		name   string
		change func(*BreakerOptions, *BudgetOptions)
		ok     bool
	}{
		{"the defaults", func(*BreakerOptions, *BudgetOptions) {}, true},
		{"a volume of one", func(b *BreakerOptions, _ *BudgetOptions) { b.Volume = 1 }, true},
		{"no volume", func(b *BreakerOptions, _ *BudgetOptions) { b.Volume = 0 }, false},
		{"less than a percent", func(b *BreakerOptions, _ *BudgetOptions) { b.Percent = 0.5 }, true},
		{"a hundred percent", func(b *BreakerOptions, _ *BudgetOptions) { b.Percent = 100 }, true},
		{"no percent", func(b *BreakerOptions, _ *BudgetOptions) { b.Percent = 0 }, false},
		{"more than a hundred percent", func(b *BreakerOptions, _ *BudgetOptions) { b.Percent = 100.5 }, false},
		{"a percent that is no number", func(b *BreakerOptions, _ *BudgetOptions) { b.Percent = nan }, false},
		{"a window of 10 ns", func(b *BreakerOptions, _ *BudgetOptions) { b.Window = 10 }, true},
		{"a window of 9 ns", func(b *BreakerOptions, _ *BudgetOptions) { b.Window = 9 }, false},
		{"a sleep of 1 ns", func(b *BreakerOptions, _ *BudgetOptions) { b.OpenTimeout = 1 }, true},
		{"no open timeout", func(b *BreakerOptions, _ *BudgetOptions) { b.OpenTimeout = 0 }, false},
		{"no ratio", func(_ *BreakerOptions, b *BudgetOptions) { b.Ratio = 0 }, true},
		{"a ratio of one", func(_ *BreakerOptions, b *BudgetOptions) { b.Ratio = 1 }, true},
		{"a ratio above one", func(_ *BreakerOptions, b *BudgetOptions) { b.Ratio = 1.5 }, false},
		{"a negative ratio", func(_ *BreakerOptions, b *BudgetOptions) { b.Ratio = -0.1 }, false},
		{"a ratio that is no number", func(_ *BreakerOptions, b *BudgetOptions) { b.Ratio = nan }, false},
		{"none per second", func(_ *BreakerOptions, b *BudgetOptions) { b.PerSecond = 0 }, true},
		{"half of one per second", func(_ *BreakerOptions, b *BudgetOptions) { b.PerSecond = 0.5 }, true},
		{"less than none per second", func(_ *BreakerOptions, b *BudgetOptions) { b.PerSecond = -0.1 }, false},
		{"infinitely many per second", func(_ *BreakerOptions, b *BudgetOptions) { b.PerSecond = inf }, false},
		{"a burst of one", func(_ *BreakerOptions, b *BudgetOptions) { b.Burst = 1 }, true},
		{"a burst below one", func(_ *BreakerOptions, b *BudgetOptions) { b.Burst = 0.9 }, false},
		{"an infinite burst", func(_ *BreakerOptions, b *BudgetOptions) { b.Burst = inf }, false},
	} {
		breaker, budget := DefaultBreakerOptions(), DefaultBudgetOptions()
		c.change(breaker, budget)
		_, err := New(Options{Strategy: RetryOnce(), Breaker: breaker})
		if err == nil {
			_, err = NewBudget(*budget)
		}
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if got, want := *DefaultBudgetOptions(), (BudgetOptions{Ratio: 0.1, PerSecond: 0.5, Burst: 1}); got != want {
		t.Errorf("the default budget is %+v", got)
	}
	if got := DefaultBreakerOptions(); got.Volume != 20 || got.Percent != 50 || got.Window != time.Minute || got.OpenTimeout != 5*time.Second {
		t.Errorf("the default breaker is %+v", got)
	}
	for mode, ok := range map[DeadlineMode]bool{DeadlineGiveUp: true, DeadlineCapDelay: true, DeadlineCapDelay + 1: false} {
		if _, err := New(Options{Strategy: RetryOnce(), DeadlineMode: mode}); (err == nil) != ok {
			t.Errorf("mode %d: %v", mode, err)
		}
	}
}

// A nanosecond counts: for the budget, and as a delay.
func TestANanosecondCounts(t *testing.T) {
	start := time.Unix(0, 0)
	b := newBudget(BudgetOptions{PerSecond: 1e9, Burst: 1}, start)
	if !b.pay(start) || b.pay(start) || !b.pay(start.Add(1)) || b.pay(start.Add(1)) {
		t.Error("a nanosecond does not earn what it should")
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if err := made(t, Options{Strategy: BestEffort(BackoffOptions{Min: 1, Max: 1})}).Do(t.Context(), Operation{}, failOnce); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 1 {
			t.Errorf("a delay of 1 ns took %v", took)
		}
	})
}
