package retry_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/retry"
)

// silent makes attempts that wait for the end of their context and then fail with its cause.
func silent(f retry.Failure) retry.AttemptFunc {
	return func(ctx context.Context, _ int) retry.Failure {
		<-ctx.Done()
		f.Err = context.Cause(ctx)
		return f
	}
}

// "The attempt's context ends with a cause; the failure's reason is a general one unless the attempt says another; the caller's
// own deadline stays what it is."
func TestATimeLimitForEachAttempt(t *testing.T) {
	const second = time.Second
	for _, c := range []struct {
		name     string
		failure  retry.Failure
		deadline time.Duration
		reason   retry.Reason
		ended    time.Duration
		stop     retry.StopReason
	}{
		{"a read is tried again", retry.Failure{Idempotency: retry.ReadOnly}, 0, retry.ReasonAttemptTimeout, 3 * second, retry.StopAttemptsUsed},
		{"nothing was sent", retry.Failure{Stage: retry.StageBeforeSending}, 0, retry.ReasonAttemptTimeout, 3 * second, retry.StopAttemptsUsed},
		{"it may have been applied", retry.Failure{}, 0, retry.ReasonAttemptTimeout, second, retry.StopNotIdempotent},
		{"it was answered for good", retry.Failure{Stage: retry.StageAnswered}, 0, retry.ReasonUnknown, second, retry.StopNotRetryable},
		{"the attempt says another reason", retry.Failure{Idempotency: retry.ReadOnly, Reason: retry.ReasonNetworkError}, 0, retry.ReasonNetworkError, 3 * second, retry.StopAttemptsUsed},
		{"the attempt refuses itself", retry.Failure{Stop: retry.StopNoServer}, 0, retry.ReasonAttemptTimeout, second, retry.StopNoServer},
		{"the deadline comes first", retry.Failure{Idempotency: retry.ReadOnly}, second / 2, retry.ReasonUnknown, second / 2, retry.StopDeadlineWouldPass},
		{"the deadline comes during the second attempt", retry.Failure{Idempotency: retry.ReadOnly}, 3 * second / 2, retry.ReasonUnknown, 3 * second / 2, retry.StopDeadlineWouldPass},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := engine(t, retry.Options{Strategy: retry.Limited(3, retry.UntilDeadline()), AttemptTimeout: second})
				ctx, cancel := endingAt(t.Context(), c.deadline, 0)
				defer cancel()
				start := time.Now()
				err := e.Do(ctx, retry.Operation{}, silent(c.failure))
				var failed *retry.Error
				if !errors.As(err, &failed) || failed.StopReason() != c.stop || failed.Last().Reason != c.reason || time.Since(start) != c.ended {
					t.Errorf("after %v: %v; want %v after %v", time.Since(start), err, c.stop, c.ended)
				}
				if c.deadline == 0 {
					matches(t, err, retry.ErrAttemptTimeout, context.DeadlineExceeded)
				} else if errors.Is(err, retry.ErrAttemptTimeout) {
					t.Errorf("the caller's deadline ended it, and the error says: %v", err)
				}
				if !failed.Timeout() {
					t.Error("it is not a timeout")
				}
			})
		})
	}
}

func TestAnAttemptWithinItsTimeLimitIsNotChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine(t, retry.Options{Strategy: retry.Limited(3, retry.UntilDeadline()), AttemptTimeout: time.Second})
		var contexts []context.Context
		fails := 1
		err := e.Do(t.Context(), retry.Operation{Idempotency: retry.ReadOnly}, func(ctx context.Context, n int) retry.Failure {
			contexts = append(contexts, ctx)
			<-time.After(999 * ms)
			if n < fails {
				return inFlight
			}
			return retry.Failure{}
		})
		if err != nil || len(contexts) != 2 {
			t.Fatalf("%d attempts: %v", len(contexts), err)
		}
		for i, ctx := range contexts {
			if !errors.Is(ctx.Err(), context.Canceled) {
				t.Errorf("the context of attempt %d is still alive after it: its timer would stay until the limit", i)
			}
		}
		fails = 9
		err = e.Do(t.Context(), retry.Operation{}, func(context.Context, int) retry.Failure { return retry.Failure{Err: errLost} })
		if stopReasonOf(err) != retry.StopNotRetryable {
			t.Errorf("an unknown failure before the time limit: %v", err)
		}
	})
}

// A Run whose function was too slow is tried again, although its classify does not know the error.
func TestRunWithATimeLimitForEachAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine(t, retry.Options{Strategy: retry.RetryOnce(), AttemptTimeout: time.Second})
		calls := 0
		err := e.Run(t.Context(), retry.Idempotent, as(retry.ClassUnknown), func(ctx context.Context) error {
			if calls++; calls == 1 {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		})
		if err != nil || calls != 2 {
			t.Errorf("%d calls, %v", calls, err)
		}
	})
}

func TestErrAttemptTimeoutIsATimeout(t *testing.T) {
	var timeout interface{ Timeout() bool }
	if !errors.As(retry.ErrAttemptTimeout, &timeout) || !timeout.Timeout() || !errors.Is(retry.ErrAttemptTimeout, context.DeadlineExceeded) {
		t.Errorf("%v", retry.ErrAttemptTimeout)
	}
}

func TestTheMethodTimeout(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"a time limit of the network": {&net.DNSError{IsTimeout: true}, true},
		"another error":               {errLost, false},
		"an error that says no":       {&net.DNSError{}, false},
	} {
		if got := failed(t, retry.ReadOnly, retry.Failure{Err: c.err}).Timeout(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
