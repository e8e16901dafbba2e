package retry

import (
	"context"
	"errors"
	"testing"
	"time"
)

var errBroken = errors.New("broken")

// generous returns a budget and a breaker that never refuse.
func generous() (*BudgetOptions, *BreakerOptions) {
	return &BudgetOptions{Ratio: 1, PerSecond: 1e9, Burst: 1e9},
		&BreakerOptions{Volume: 1e9, Percent: 100, Window: time.Minute, Sleep: time.Second}
}

func succeed(context.Context, int) Failure { return Failure{} }

func failOnce(_ context.Context, n int) Failure {
	if n == 0 {
		return Failure{Err: errBroken, Stage: StageDispatch, Reason: ReasonConnectionFailed}
	}
	return Failure{}
}

type costs struct {
	name    string
	engine  Options
	op      Operation
	attempt AttemptFunc
}

// without lists what costs no memory.
func without() []costs {
	budget, breaker := generous()
	plain := Options{Strategy: Once()}
	both := Options{Strategy: Once(), Budget: budget, Breaker: breaker}
	limited, own := Strategy(Limited(3, UntilDeadline())), Strategy(Limited(3, UntilDeadline()))
	return []costs{
		{"a success", plain, Operation{}, succeed},
		{"a success with budget and breaker", both, Operation{}, succeed},
		{"a success with a limit around a strategy of its own", both, Operation{Strategy: limited}, succeed},
		{"a success with an overload rule of its own", both, Operation{Strategy: Overload(2, Once())}, succeed},
		{"a success with a strategy of its own", both, Operation{Strategy: own}, succeed},
		{"a retry at once", plain, Operation{}, failOnce},
		{"a retry at once with a budget", Options{Strategy: Once(), Budget: budget}, Operation{}, failOnce},
		{"a retry at once with a breaker", Options{Strategy: Once(), Breaker: breaker}, Operation{}, failOnce},
		{"a retry at once with budget and breaker", both, Operation{}, failOnce},
		{"a retry at once within a limit", Options{Strategy: limited, Budget: budget, Breaker: breaker}, Operation{}, failOnce},
		{"a retry at once until the deadline", Options{Strategy: UntilDeadline()}, Operation{}, failOnce},
		{"a retry at once by a strategy of its own", both, Operation{Strategy: Once()}, failOnce},
		{"a retry at once within a limit of its own", both, Operation{Strategy: own}, failOnce},
		{"a retry at once until the deadline by a strategy of its own", both, Operation{Strategy: UntilDeadline()}, failOnce},
	}
}

func TestAllocations(t *testing.T) {
	withDeadline, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	for _, c := range without() {
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

func BenchmarkEngine(b *testing.B) {
	delayed := costs{
		"a retry after a nanosecond", Options{Strategy: BestEffort(BackoffOptions{Min: 1, Max: 1})}, Operation{}, failOnce,
	}
	for _, c := range append(without(), delayed) {
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
