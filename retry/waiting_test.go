package retry_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/retry"
)

func TestDelaysAndDeadlines(t *testing.T) {
	retryAfter := with(inFlight, func(f *retry.Failure) { f.RetryAfter = 120 * ms })
	for _, c := range []struct {
		name     string
		mode     retry.DeadlineMode
		delay    time.Duration
		failure  retry.Failure
		deadline time.Duration
		at       []time.Duration
		ended    time.Duration
		stop     retry.StopReason
	}{
		{"two delays fit", retry.DeadlineGiveUp, 100 * ms, inFlight, 250 * ms, []time.Duration{0, 100 * ms, 200 * ms}, 200 * ms, retry.StopDeadlineWouldPass},
		{
			"a delay that would pass the deadline is not begun",
			retry.DeadlineGiveUp, 100 * ms, inFlight, 150 * ms,
			[]time.Duration{0, 100 * ms},
			100 * ms, retry.StopDeadlineWouldPass,
		},
		{"a delay that ends with the deadline is not begun", retry.DeadlineGiveUp, 100 * ms, inFlight, 100 * ms, []time.Duration{0}, 0, retry.StopDeadlineWouldPass},
		{"a delay that ends just before the deadline is waited", retry.DeadlineGiveUp, 100*ms - 1, inFlight, 100 * ms, []time.Duration{0, 100*ms - 1}, 100*ms - 1, retry.StopDeadlineWouldPass},
		{
			"a delay is capped at the deadline, and no attempt follows",
			retry.DeadlineCapDelay, 100 * ms, inFlight, 150 * ms,
			[]time.Duration{0, 100 * ms},
			150 * ms, retry.StopDeadlineWouldPass,
		},
		{
			"a delay that ends with the deadline is not followed by an attempt",
			retry.DeadlineCapDelay, 100 * ms, inFlight, 100 * ms,
			[]time.Duration{0},
			100 * ms, retry.StopDeadlineWouldPass,
		},
		{
			"RFC 0049: 2 s into its lifetime, a delay of 1 s and a timeout of 2.5 s: capped to 500 ms",
			retry.DeadlineCapDelay, 1000 * ms, inFlight, 2500 * ms,
			[]time.Duration{0, 1000 * ms, 2000 * ms},
			2500 * ms, retry.StopDeadlineWouldPass,
		},
		{"RetryAfter is a minimum for the delay", retry.DeadlineGiveUp, 100 * ms, retryAfter, 250 * ms, []time.Duration{0, 120 * ms, 240 * ms}, 240 * ms, retry.StopDeadlineWouldPass},
		{"a RetryAfter that would pass the deadline", retry.DeadlineGiveUp, 0, retryAfter, 100 * ms, []time.Duration{0}, 0, retry.StopDeadlineWouldPass},
		{"RetryAfter is capped too", retry.DeadlineCapDelay, 0, retryAfter, 100 * ms, []time.Duration{0}, 100 * ms, retry.StopDeadlineWouldPass},
		{"retries at once need no time", retry.DeadlineGiveUp, 0, inFlight, 1, []time.Duration{0, 0, 0, 0, 0, 0}, 0, retry.NotStopped},
		{"a negative delay means at once", retry.DeadlineGiveUp, -1, inFlight, 1, []time.Duration{0, 0, 0, 0, 0, 0}, 0, retry.NotStopped},
		{"without a deadline the whole delays are waited", retry.DeadlineGiveUp, time.Hour, inFlight, 0, []time.Duration{0, 1 * time.Hour, 2 * time.Hour, 3 * time.Hour, 4 * time.Hour, 5 * time.Hour}, 5 * time.Hour, retry.NotStopped},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := endingAt(t.Context(), c.deadline, 0)
				defer cancel()
				e := engine(t, retry.Options{Strategy: afterEach(c.delay), DeadlineMode: c.mode})
				r := do(ctx, e, retry.Operation{}, c.failure, 5)
				r.check(t, c.at, c.ended, c.stop)
				if c.stop == retry.StopDeadlineWouldPass {
					matches(t, r.err, context.DeadlineExceeded, io.ErrUnexpectedEOF)
				}
			})
		})
	}
}

// The deadline passes during the attempt: the operation ends without a wait, in either mode.
func TestADeadlineThatHasPassedEndsTheOperationAtOnce(t *testing.T) {
	cause := errors.New("the request's time is over")
	for mode, name := range map[retry.DeadlineMode]string{retry.DeadlineGiveUp: "give up", retry.DeadlineCapDelay: "cap the delay"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithDeadlineCause(t.Context(), time.Now().Add(70*ms), cause)
				defer cancel()
				start := time.Now()
				made := 0
				err := engine(t, retry.Options{Strategy: retry.BestEffort(retry.BackoffOptions{}), DeadlineMode: mode}).Do(ctx, retry.Operation{},
					func(ctx context.Context, _ int) retry.Failure {
						made++
						<-ctx.Done()
						return inFlight
					})
				if took := time.Since(start); took != 70*ms || made != 1 || stopReasonOf(err) != retry.StopDeadlineWouldPass {
					t.Errorf("%d attempts in %v: %v", made, took, err)
				}
				matches(t, err, context.DeadlineExceeded, cause, io.ErrUnexpectedEOF)
			})
		})
	}
}

// The caller's goroutine waits for a strategy. Its time counts against the deadline.
func TestASlowStrategy(t *testing.T) {
	cause := errors.New("enough")
	slow := func(lasts time.Duration, answer retry.Action) retry.Strategy {
		return retry.StrategyFunc(func(ctx context.Context, _ retry.OperationState, _ retry.Failure) (retry.Action, error) {
			select {
			case <-time.After(lasts):
			case <-ctx.Done():
			}
			return answer, nil
		})
	}
	for _, c := range []struct {
		name     string
		strategy retry.Strategy
		deadline time.Duration
		cancel   time.Duration
		at       []time.Duration
		ended    time.Duration
		stop     retry.StopReason
		is       error
	}{
		{"it retries", slow(60*ms, retry.After(30*ms)), 100 * ms, 0, []time.Duration{0, 90 * ms}, 90 * ms, retry.NotStopped, nil},
		{"its delay would pass the deadline", slow(60*ms, retry.After(50*ms)), 100 * ms, 0, []time.Duration{0}, 60 * ms, retry.StopDeadlineWouldPass, context.DeadlineExceeded},
		{"it blocks until the deadline", slow(time.Hour, retry.After(0)), 100 * ms, 0, []time.Duration{0}, 100 * ms, retry.StopDeadlineWouldPass, context.DeadlineExceeded},
		{"it blocks until the cancellation", slow(time.Hour, retry.After(0)), 0, 40 * ms, []time.Duration{0}, 40 * ms, retry.StopCancelled, context.Canceled},
		{"it blocks until the cancellation and declines", slow(time.Hour, retry.Decline(retry.StopDisabled)), 0, 40 * ms, []time.Duration{0}, 40 * ms, retry.StopCancelled, cause},
	} {
		for name, breaker := range map[string]*retry.BreakerOptions{"": nil, ", with a breaker": retry.DefaultBreakerOptions()} {
			t.Run(c.name+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, stop := endingAt(t.Context(), c.deadline, 0)
					defer stop()
					ctx, cancel := context.WithCancelCause(ctx)
					defer cancel(nil)
					if c.cancel != 0 {
						time.AfterFunc(c.cancel, func() { cancel(cause) })
					}
					r := do(ctx, engine(t, retry.Options{Strategy: c.strategy, Breaker: breaker}), retry.Operation{}, inFlight, 1)
					r.check(t, c.at, c.ended, c.stop)
					if c.is != nil {
						matches(t, r.err, c.is, io.ErrUnexpectedEOF)
					}
				})
			})
		}
	}
}

func TestACancellationEndsAWaitAtOnce(t *testing.T) {
	cause := errors.New("the user left")
	for name, mode := range map[string]retry.DeadlineMode{"give up": retry.DeadlineGiveUp, "cap the delay": retry.DeadlineCapDelay} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(40*ms, func() { cancel(cause) })
				r := do(ctx, engine(t, retry.Options{Strategy: afterEach(time.Hour), DeadlineMode: mode}), retry.Operation{}, inFlight, 1)
				r.check(t, []time.Duration{0}, 40*ms, retry.StopCancelled)
				matches(t, r.err, context.Canceled, cause, io.ErrUnexpectedEOF)
				if errors.Is(r.err, context.DeadlineExceeded) {
					t.Errorf("the error of a cancellation matches context.DeadlineExceeded: %v", r.err)
				}
			})
		})
	}
}

// lateDone is a context that is cancelled at a time, and whose Done channel is not closed yet when a timer of that time fires.
type lateDone struct {
	context.Context
	at time.Time
}

func (l lateDone) Done() <-chan struct{} { return nil }

func (l lateDone) Err() error {
	if time.Now().Before(l.at) {
		return nil
	}
	return context.Canceled
}

func TestACancellationAtTheEndOfADelayIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := lateDone{t.Context(), time.Now().Add(40 * ms)}
		r := do(ctx, engine(t, retry.Options{Strategy: afterEach(40 * ms)}), retry.Operation{}, inFlight, 1)
		r.check(t, []time.Duration{0}, 40*ms, retry.StopCancelled)
	})
}

// Either of the two can come first. In both cases the operation ends at that time, after at most one more attempt.
func TestACancellationAndATimerAtTheSameTime(t *testing.T) {
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(40*ms, cancel)
			start := time.Now()
			made := 0
			err := engine(t, retry.Options{Strategy: afterEach(40 * ms)}).Do(ctx, retry.Operation{}, func(ctx context.Context, n int) retry.Failure {
				if made++; n > 0 {
					<-ctx.Done()
				}
				return inFlight
			})
			if took := time.Since(start); took != 40*ms || made > 2 || stopReasonOf(err) != retry.StopCancelled || !errors.Is(err, context.Canceled) {
				t.Errorf("%d attempts in %v: %v", made, took, err)
			}
		})
	}
}

func TestACancelledContextIsNeverRetried(t *testing.T) {
	for _, f := range []retry.Failure{inFlight, notMyVBucket} {
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(context.Background())
		made := 0
		err := engine(t, retry.Options{Strategy: retry.UntilDeadline()}).Do(ctx, retry.Operation{}, func(context.Context, int) retry.Failure {
			made++
			cancel(cause)
			return f
		})
		if made != 1 || stopReasonOf(err) != retry.StopCancelled {
			t.Errorf("%v: %d attempts, %v", f.Reason, made, err)
		}
		matches(t, err, context.Canceled, cause, f.Err)
	}
}

// "No goroutine sleeps on behalf of an operation." synctest.Test does not return while a goroutine is left.
func TestNoGoroutineIsLeft(t *testing.T) {
	for _, c := range []struct {
		name             string
		deadline, cancel time.Duration
		stop             retry.StopReason
	}{
		{"by a success after waits", 0, 0, retry.NotStopped},
		{"by a cancellation during a wait", 0, 40 * ms, retry.StopCancelled},
		{"by a deadline", 50 * ms, 0, retry.StopDeadlineWouldPass},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := endingAt(t.Context(), c.deadline, c.cancel)
				defer cancel()
				r := do(ctx, engine(t, retry.Options{Strategy: afterEach(30 * ms), DeadlineMode: retry.DeadlineCapDelay}), retry.Operation{}, inFlight, 3)
				if stopReasonOf(r.err) != c.stop {
					t.Errorf("%v", r.err)
				}
			})
		})
	}
}

func TestACappedDelayEndsWithTheCauseOfTheDeadline(t *testing.T) {
	cause := errors.New("the request's time is over")
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeoutCause(t.Context(), 100*ms, cause)
			defer cancel()
			e := engine(t, retry.Options{Strategy: afterEach(time.Hour), DeadlineMode: retry.DeadlineCapDelay})
			r := do(ctx, e, retry.Operation{}, inFlight, 1)
			r.check(t, []time.Duration{0}, 100*ms, retry.StopDeadlineWouldPass)
			matches(t, r.err, context.DeadlineExceeded, cause)
		})
	}
}

// slowObserver needs 60 ms for each failed attempt.
type slowObserver struct{}

func (slowObserver) Observe(_ context.Context, e retry.Event) {
	if e.Kind == retry.EventAttemptFailed {
		<-time.After(60 * ms)
	}
}

// An observer's time counts against the deadline: the operation ends at 60 ms, because 60 + 50 ms is more than 100 ms.
func TestASlowObserver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*ms)
		defer cancel()
		e := engine(t, retry.Options{Strategy: retry.BestEffort(retry.BackoffOptions{Min: 50 * ms, Max: 50 * ms}), Breaker: retry.DefaultBreakerOptions(), Observer: slowObserver{}})
		do(ctx, e, retry.Operation{}, inFlight, 1).check(t, []time.Duration{0}, 60*ms, retry.StopDeadlineWouldPass)
	})
}

// limitedObserver is an observer that panics after 100 attempts of an operation, so that an endless loop ends the test.
type limitedObserver struct{}

func (limitedObserver) Observe(_ context.Context, e retry.Event) {
	if e.Attempt > 100 {
		panic("the operation makes endless attempts")
	}
}

func TestRetriesAtOnceEndWhileAProbeIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opens := retry.DefaultBreakerOptions()
		opens.Volume, opens.OpenTimeout = 1, time.Second
		e := engine(t, retry.Options{Strategy: retry.UntilDeadline(), Breaker: opens, Observer: limitedObserver{}})
		declining := retry.Operation{Strategy: saying(retry.Action{}, nil)}
		do(t.Context(), e, declining, inFlight, 1)
		<-time.After(time.Second)
		ends := make(chan struct{})
		defer close(ends)
		go func() {
			_ = e.Do(t.Context(), declining, func(context.Context, int) retry.Failure {
				<-ends
				return retry.Failure{}
			})
		}()
		synctest.Wait() // the probe is under way
		if err := e.Do(t.Context(), retry.Operation{}, func(context.Context, int) retry.Failure { return retry.Failure{} }); stopReasonOf(err) != retry.StopBreakerOpen {
			t.Errorf("%v", err)
		}
	})
}
