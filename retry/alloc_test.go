package retry

import (
	"context"
	"errors"
	"testing"
)

var errBroken = errors.New("broken")

func TestASuccessAllocatesNothing(t *testing.T) {
	e, _ := New(Options{Strategy: Once()})
	ctx := context.Background()
	if n := testing.AllocsPerRun(1000, func() {
		_ = e.Do(ctx, Operation{}, func(context.Context, int) Failure { return Failure{} })
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func TestOneImmediateRetryAllocatesNothing(t *testing.T) {
	e, _ := New(Options{Strategy: Once()})
	ctx := context.Background()
	if n := testing.AllocsPerRun(1000, func() {
		_ = e.Do(ctx, Operation{}, func(_ context.Context, n int) Failure {
			if n == 0 {
				return Failure{Err: errBroken, Stage: Dispatch, Reason: PoolCleared}
			}
			return Failure{}
		})
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func BenchmarkSuccess(b *testing.B) {
	e, _ := New(Options{Strategy: Once()})
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		_ = e.Do(ctx, Operation{}, func(context.Context, int) Failure { return Failure{} })
	}
}

func BenchmarkOneImmediateRetry(b *testing.B) {
	e, _ := New(Options{Strategy: Once()})
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		_ = e.Do(ctx, Operation{}, func(_ context.Context, n int) Failure {
			if n == 0 {
				return Failure{Err: errBroken, Stage: Dispatch, Reason: PoolCleared}
			}
			return Failure{}
		})
	}
}
