package retry_test

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/retry"
)

func TestWakeEndsTheDelayEarly(t *testing.T) {
	always := retry.NewReason("ALWAYS", retry.FlagAlways)
	for _, c := range []struct {
		name     string
		mode     retry.DeadlineMode
		delay    time.Duration
		deadline time.Duration // 0: none
		woken    time.Duration // 0: never
		failure  retry.Failure
		ended    time.Duration
		stop     retry.StopReason
		tokens   float64
	}{
		{"a closed channel ends the delay", retry.DeadlineGiveUp, time.Second, 0, 10 * ms, inFlight, 10 * ms, retry.NotStopped, 1},
		{"without it the whole delay is waited", retry.DeadlineGiveUp, time.Second, 0, 0, inFlight, time.Second, retry.NotStopped, 1},
		{"it does not change a delay that would pass the deadline, if the engine gives up", retry.DeadlineGiveUp, time.Second, 100 * ms, 10 * ms, inFlight, 0, retry.StopDeadlineWouldPass, 2},
		{"it wakes an operation whose delay would pass the deadline", retry.DeadlineCapDelay, time.Second, 100 * ms, 10 * ms, inFlight, 10 * ms, retry.NotStopped, 1},
		{"nothing is sent at the deadline without it, and the token comes back", retry.DeadlineCapDelay, time.Second, 100 * ms, 0, inFlight, 100 * ms, retry.StopDeadlineWouldPass, 2},
		{"it does not shorten RetryAfter", retry.DeadlineCapDelay, 0, 0, 10 * ms, with(inFlight, func(f *retry.Failure) { f.RetryAfter = 120 * ms }), 120 * ms, retry.NotStopped, 1},
		{"it does not wake a RetryAfter that would pass the deadline", retry.DeadlineCapDelay, 0, 100 * ms, 10 * ms, with(inFlight, func(f *retry.Failure) { f.RetryAfter = 120 * ms }), 100 * ms, retry.StopDeadlineWouldPass, 2},
		{"it ends the delay of a reason that is always retried", retry.DeadlineCapDelay, 0, 100 * ms, 1, retry.Failure{Err: io.EOF, Stage: retry.StageAnswered, Reason: always}, 1, retry.NotStopped, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := endingAt(t.Context(), c.deadline, 0)
				defer cancel()
				budget, err := retry.NewBudget(retry.BudgetOptions{Burst: 2})
				if err != nil {
					t.Fatal(err)
				}
				e := engine(t, retry.Options{Strategy: afterEach(c.delay), DeadlineMode: c.mode, Budget: budget})
				wake := make(chan struct{})
				if c.woken > 0 {
					time.AfterFunc(c.woken, func() { close(wake) })
				}
				began := time.Now()
				err = e.Do(ctx, retry.Operation{Idempotency: retry.Idempotent}, func(_ context.Context, n int) retry.Failure {
					if n > 0 {
						return retry.Failure{}
					}
					f := c.failure
					f.Wake = wake
					return f
				})
				if stop := stopReasonOf(err); stop != c.stop || time.Since(began) != c.ended || budget.Tokens() != c.tokens {
					t.Errorf("%v after %v with %v tokens, want %v after %v with %v", stop, time.Since(began), budget.Tokens(), c.stop, c.ended, c.tokens)
				}
				synctest.Wait()
			})
		})
	}
}

func TestACancelledOperationIsNotWoken(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	wake := make(chan struct{})
	close(wake)
	attempts := 0
	err := engine(t, retry.Options{Strategy: afterEach(time.Hour)}).Do(ctx, retry.Operation{Idempotency: retry.Idempotent},
		func(context.Context, int) retry.Failure {
			if attempts++; attempts == 3 {
				cancel()
			}
			f := inFlight
			f.Wake = wake
			return f
		})
	if attempts != 3 || stopReasonOf(err) != retry.StopCancelled {
		t.Errorf("%d attempts and %v", attempts, err)
	}
}
