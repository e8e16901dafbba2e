package retry

import (
	"context"
	"errors"
	"testing"
	"time"
)

var errBroken = errors.New("broken")

// generous returns a budget and a breaker that never refuse.
func generous() (*Budget, *BreakerOptions) {
	return newBudget(BudgetOptions{Ratio: 1, PerSecond: 1e9, Burst: 1e9}, time.Now()),
		&BreakerOptions{Volume: 1e9, Percent: 100, Window: time.Minute, OpenTimeout: time.Second}
}

func succeed(context.Context, int) Failure { return Failure{} }

func failOnce(_ context.Context, n int) Failure {
	if n == 0 {
		return Failure{Err: errBroken, Stage: StageBeforeSending, Reason: ReasonConnectionFailed}
	}
	return Failure{}
}

// operationCase is one kind of operation whose costs are measured.
type operationCase struct {
	name    string
	engine  Options
	op      Operation
	attempt AttemptFunc
}

// allocationFree returns the operations that must not allocate memory.
func allocationFree() []operationCase {
	budget, breaker := generous()
	plain := Options{Strategy: RetryOnce()}
	both := Options{Strategy: RetryOnce(), Budget: budget, Breaker: breaker}
	atOnce, bestEffort := Limited(3, UntilDeadline()), Limited(3, BestEffort(BackoffOptions{}))
	return []operationCase{
		{"a success", plain, Operation{}, succeed},
		{"a success with budget and breaker", both, Operation{}, succeed},
		{"a success with a strategy of its own", both, Operation{Strategy: atOnce}, succeed},
		{"a success with a limited best effort of its own", both, Operation{Strategy: bestEffort}, succeed},
		{"a success with an overload rule of its own", both, Operation{Strategy: Overload(2, RetryOnce())}, succeed},
		{"a retry at once", plain, Operation{}, failOnce},
		{"a retry at once with a budget", Options{Strategy: RetryOnce(), Budget: budget}, Operation{}, failOnce},
		{"a retry at once with a breaker", Options{Strategy: RetryOnce(), Breaker: breaker}, Operation{}, failOnce},
		{"a retry at once with budget and breaker", both, Operation{}, failOnce},
		{"a retry at once within a limit", Options{Strategy: atOnce, Budget: budget, Breaker: breaker}, Operation{}, failOnce},
		{"a retry at once until the deadline", Options{Strategy: UntilDeadline()}, Operation{}, failOnce},
		{"a retry at once by a strategy of its own", both, Operation{Strategy: RetryOnce()}, failOnce},
		{"a retry at once within a limit of its own", both, Operation{Strategy: atOnce}, failOnce},
		{"a retry at once until the deadline by a strategy of its own", both, Operation{Strategy: UntilDeadline()}, failOnce},
		{"a retry at once by an overload rule of its own", both, Operation{Strategy: Overload(2, RetryOnce())}, failOnce},
	}
}

func TestAllocations(t *testing.T) {
	withDeadline, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	for _, c := range allocationFree() {
		t.Run(c.name, func(t *testing.T) {
			e := made(t, c.engine)
			for name, ctx := range map[string]context.Context{"no deadline": context.Background(), "a deadline": withDeadline} {
				if n := testing.AllocsPerRun(1000, func() {
					if e.Do(ctx, c.op, c.attempt) != nil {
						t.Error("it failed")
					}
				}); n != 0 {
					t.Errorf("with %s: %v allocations, want 0", name, n)
				}
			}
		})
	}
}

func TestRunAllocatesNothingForASuccessOrARetryAtOnce(t *testing.T) {
	budget, breaker := generous()
	e := made(t, Options{Strategy: RetryOnce(), Budget: budget, Breaker: breaker})
	fails := false
	f := func(context.Context) error {
		if fails = !fails; fails {
			return errBroken
		}
		return nil
	}
	classify := func(error) Class { return ClassNotSent }
	for name, run := range map[string]func() error{
		"a success": func() error {
			return Run(t.Context(), ReadOnly, classify, func(context.Context) error { return nil })
		},
		"a retry at once": func() error { return e.Run(t.Context(), ReadOnly, classify, f) },
	} {
		if n := testing.AllocsPerRun(1000, func() {
			if run() != nil {
				t.Error("it failed")
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations, want 0", name, n)
		}
	}
}

func BenchmarkEngine(b *testing.B) {
	delayed := operationCase{
		"a retry after a nanosecond", Options{Strategy: BestEffort(BackoffOptions{Min: 1, Max: 1})}, Operation{}, failOnce,
	}
	for _, c := range append(allocationFree(), delayed) {
		b.Run(c.name, func(b *testing.B) {
			e := made(b, c.engine)
			ctx := context.Background()
			b.ReportAllocs()
			for b.Loop() {
				_ = e.Do(ctx, c.op, c.attempt)
			}
		})
	}
}
