package retry_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/retry"
)

// stream is the failure of a stream that was read for a time before it broke.
var stream = retry.Failure{Err: errLost, Reason: retry.ReasonNetworkError, Idempotency: retry.ReadOnly, Progress: true}

// broken is the failure of a stream that delivered nothing.
var broken = with(stream, func(f *retry.Failure) { f.Progress = false })

// "The attempt made progress before it failed, so retries and backoff count from zero again."
func TestAfterProgressRetriesAndDelaysCountFromZero(t *testing.T) {
	doubling := retry.BestEffort(retry.BackoffOptions{Calculator: func(retries int) time.Duration { return ms << retries }})
	always := with(stream, func(f *retry.Failure) { f.Reason, f.Stage = notMyVBucket.Reason, retry.StageBeforeSending })
	notAlways := with(always, func(f *retry.Failure) { f.Progress = false })
	overloaded := with(broken, func(f *retry.Failure) { f.Reason = retry.ReasonOverloaded })
	for _, c := range []struct {
		name     string
		strategy retry.Strategy
		failures []retry.Failure
		delays   []time.Duration
		stop     retry.StopReason
	}{
		{
			"the delays", doubling,
			[]retry.Failure{broken, broken, broken, stream, broken, broken},
			[]time.Duration{1 * ms, 2 * ms, 4 * ms, 1 * ms, 2 * ms, 4 * ms},
			retry.NotStopped,
		},
		{
			"the limit of attempts", retry.Limited(3, doubling),
			[]retry.Failure{broken, broken, stream, broken, broken},
			[]time.Duration{1 * ms, 2 * ms, 1 * ms, 2 * ms, 0},
			retry.StopAttemptsUsed,
		},
		{
			"the limit of attempts, reached later", retry.Limited(3, doubling),
			[]retry.Failure{broken, stream, broken, stream, stream, broken, broken},
			[]time.Duration{1 * ms, 1 * ms, 2 * ms, 1 * ms, 1 * ms, 2 * ms, 0},
			retry.StopAttemptsUsed,
		},
		{
			"the controlled backoff of an always-retry reason", doubling,
			[]retry.Failure{notAlways, notAlways, always, notAlways},
			[]time.Duration{1 * ms, 10 * ms, 1 * ms, 10 * ms},
			retry.NotStopped,
		},
		{
			"the memory of an overload", retry.Overload(1, retry.Limited(4, retry.UntilDeadline())),
			[]retry.Failure{overloaded, stream, broken, broken, broken},
			nil, retry.StopAttemptsUsed,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &watcher{}
				attempt, made := script(c.failures...)
				err := engine(t, retry.Options{Strategy: c.strategy, Observer: w}).Do(t.Context(), retry.Operation{}, attempt)
				var delays []time.Duration
				for _, e := range w.events {
					if e.Kind == retry.EventDecided {
						delays = append(delays, e.Delay)
					}
				}
				if stopReasonOf(err) != c.stop || c.delays != nil && !slices.Equal(delays, c.delays) || *made < len(c.failures) {
					t.Errorf("%d attempts, delays %v, %v; want %v, %v", *made, delays, err, c.delays, c.stop)
				}
			})
		})
	}
}

// "The deadline, the budget and the history do not: each retry still costs a token."
func TestProgressDoesNotRefillTheBudgetOrMoveTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine(t, retry.Options{Strategy: retry.Limited(2, afterEach(time.Second)), Budget: bucket(t, retry.BudgetOptions{Burst: 7})})
		r := do(t.Context(), e, retry.Operation{}, stream, 100)
		var failed *retry.Error
		if !errors.As(r.err, &failed) || failed.StopReason() != retry.StopBudgetEmpty || failed.Total != 8 || len(failed.Attempts) != 8 {
			t.Errorf("%v", r.err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5500*ms)
		defer cancel()
		r = do(ctx, engine(t, retry.Options{Strategy: retry.Limited(2, afterEach(time.Second))}), retry.Operation{}, stream, 100)
		if stopReasonOf(r.err) != retry.StopDeadlineWouldPass || len(r.at) != 6 || r.ended != 5*time.Second {
			t.Errorf("%d attempts until %v: %v", len(r.at), r.ended, r.err)
		}
	})
}

func TestProgressDoesNotMakeARetrySafe(t *testing.T) {
	written := with(stream, func(f *retry.Failure) { f.Idempotency = retry.NotIdempotent })
	attempt, made := script(written)
	err := engine(t, retry.Options{Strategy: retry.RetryOnce()}).Do(t.Context(), retry.Operation{}, attempt)
	if stopReasonOf(err) != retry.StopNotIdempotent || *made != 1 {
		t.Errorf("%d attempts, %v", *made, err)
	}
}
