package retry_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/retry"
)

var errLost = errors.New("lost")

// as returns a classifying function that gives every error the same class.
func as(class retry.Class) func(error) retry.Class {
	return func(error) retry.Class { return class }
}

// failTimes returns a function that fails so many times with err and then succeeds, and the number of its calls.
func failTimes(times int, err error) (func(context.Context) error, *int) {
	calls := new(int)
	return func(context.Context) error {
		if *calls++; *calls <= times {
			return err
		}
		return nil
	}, calls
}

// idempotencies are all idempotencies.
var idempotencies = []retry.Idempotency{retry.NotIdempotent, retry.Idempotent, retry.ReadOnly}

// "What classify does not know is not retried, and something perhaps done is retried only when the caller said that the
// operation is idempotent."
func TestRunRetriesByClassAndIdempotency(t *testing.T) {
	for _, c := range []struct {
		name    string
		class   retry.Class
		retried []retry.Idempotency // for which idempotencies the error is retried
		stop    retry.StopReason    // for the others
		known   bool                // whether the outcome is known where the idempotency is not idempotent
	}{
		{"an unknown error is not retried", retry.ClassUnknown, nil, retry.StopNotRetryable, false},
		{"a class that does not exist is an unknown error", retry.ClassNoAnswer + 1, nil, retry.StopNotRetryable, false},
		{"the last number of a class too", retry.Class(255), nil, retry.StopNotRetryable, false},
		{"a permanent answer is not retried", retry.ClassPermanent, nil, retry.StopNotRetryable, true},
		{"a temporary answer is retried", retry.ClassTemporary, idempotencies, 0, true},
		{"nothing was sent: retried", retry.ClassNotSent, idempotencies, 0, true},
		{"no answer: retried if sending it twice does no harm", retry.ClassNoAnswer, idempotencies[1:], retry.StopNotIdempotent, false},
	} {
		for _, idempotency := range idempotencies {
			t.Run(c.name+", "+idempotency.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f, calls := failTimes(1, errLost)
					err := retry.Run(t.Context(), idempotency, as(c.class), f)
					if slices.Contains(c.retried, idempotency) {
						if err != nil || *calls != 2 {
							t.Errorf("%d calls, %v; want 2 and no error", *calls, err)
						}
						return
					}
					var failed *retry.Error
					if !errors.As(err, &failed) || failed.StopReason() != c.stop || *calls != 1 || !errors.Is(err, errLost) {
						t.Fatalf("%d calls, %v; want 1 and %v", *calls, err, c.stop)
					}
					if known := c.known || idempotency != retry.NotIdempotent; failed.OutcomeKnown() != known {
						t.Errorf("the outcome is known: %v, want %v", failed.OutcomeKnown(), known)
					}
				})
			})
		}
	}
}

// "At most 5 times. The delay after n retries is random, uniform between 50 ms and 50 ms x 2^n, so all delays together are at
// most 0.75 s."
func TestRunsLimits(t *testing.T) {
	var longest [4]time.Duration
	for range 400 {
		synctest.Test(t, func(t *testing.T) {
			var at []time.Duration
			start := time.Now()
			err := retry.Run(t.Context(), retry.ReadOnly, as(retry.ClassNoAnswer), func(context.Context) error {
				at = append(at, time.Since(start))
				return errLost
			})
			if len(at) != 5 || stopReasonOf(err) != retry.StopAttemptsUsed {
				t.Fatalf("%d calls, %v; want 5, %v", len(at), err, retry.StopAttemptsUsed)
			}
			for n := range 4 {
				delay, most := at[n+1]-at[n], 50*ms<<n
				if delay < 50*ms || delay > most {
					t.Errorf("the delay after %d retries is %v, want 50 ms to %v", n, delay, most)
				}
				longest[n] = max(longest[n], delay)
			}
			if all := time.Since(start); all > 750*ms || all != at[4] {
				t.Errorf("it ended after %v and its last call at %v", all, at[4])
			}
		})
	}
	for n, delay := range longest {
		if most := 50 * ms << n; delay < most*9/10 {
			t.Errorf("the longest delay after %d retries is %v, want nearly %v", n, delay, most)
		}
	}
}

// "Run sets no deadline: the one of ctx holds, also for f, and a delay that would pass it ends the operation at once. An operation
// whose context has ended is not retried."
func TestRunAndTheContext(t *testing.T) {
	for _, c := range []struct {
		name             string
		deadline, cancel time.Duration // 0: none
		lasts            time.Duration // each call of f, unless its context ends before
		calls            int
		ended            time.Duration
		stop             retry.StopReason
	}{
		{"without a deadline f has none", 0, 0, time.Hour, 5, 5 * time.Hour, retry.StopAttemptsUsed},
		{"f sees the deadline", 20 * ms, 0, time.Hour, 1, 20 * ms, retry.StopDeadlineWouldPass},
		{"a delay that would pass the deadline is not waited", 60 * ms, 0, 30 * ms, 1, 30 * ms, retry.StopDeadlineWouldPass},
		{"cancelled while f runs", 0, 10 * ms, time.Hour, 1, 10 * ms, retry.StopCancelled},
		{"cancelled during a delay", 0, 40 * ms, 10 * ms, 1, 40 * ms, retry.StopCancelled},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := endingAt(t.Context(), c.deadline, c.cancel)
				defer cancel()
				calls, start := 0, time.Now()
				err := retry.Run(ctx, retry.Idempotent, as(retry.ClassNotSent), func(ctx context.Context) error {
					calls++
					select {
					case <-time.After(c.lasts):
					case <-ctx.Done():
					}
					return errLost
				})
				took := time.Since(start)
				if c.calls == 5 {
					took = took.Truncate(time.Hour) // the delays are random
				}
				if calls != c.calls || took != c.ended || stopReasonOf(err) != c.stop {
					t.Errorf("%d calls in %v: %v; want %d in %v: %v", calls, took, err, c.calls, c.ended, c.stop)
				}
			})
		})
	}
}

func TestRunWithoutAClassifyingFunctionIsAnErrorBeforeAnyCall(t *testing.T) {
	e := engine(t, retry.Options{Strategy: retry.RetryOnce()})
	for name, run := range map[string]func(f func(context.Context) error) error{
		"the function": func(f func(context.Context) error) error { return retry.Run(t.Context(), retry.ReadOnly, nil, f) },
		"an engine's":  func(f func(context.Context) error) error { return e.Run(t.Context(), retry.ReadOnly, nil, f) },
	} {
		t.Run(name, func(t *testing.T) {
			f, calls := failTimes(1, errLost)
			mustSay(t, run(f), "retry: Run: classify is nil")
			if *calls != 0 {
				t.Errorf("f was called %d times", *calls)
			}
		})
	}
}

func TestRunClassifiesErrorsOnly(t *testing.T) {
	var seen []error
	f, _ := failTimes(1, errLost)
	err := engine(t, retry.Options{Strategy: retry.RetryOnce()}).Run(t.Context(), retry.ReadOnly, func(err error) retry.Class {
		seen = append(seen, err)
		return retry.ClassNotSent
	}, f)
	if err != nil || !slices.Equal(seen, []error{errLost}) {
		t.Errorf("classified %v, %v; want the one error of f", seen, err)
	}
}

// An error of f that holds an *Error with an unknown outcome: one of the attempts within f may have been applied. The class of
// the last one must not hide that.
func TestRunKeepsAnUnknownOutcomeWithinF(t *testing.T) {
	inner := engine(t, retry.Options{Strategy: retry.RetryOnce()})
	for _, c := range []struct {
		name        string
		idempotency retry.Idempotency
		sent        bool // within f, the first attempt was sent
		calls       int
		stop        retry.StopReason
	}{
		{"not idempotent, sent within f", retry.NotIdempotent, true, 1, retry.StopNotIdempotent},
		{"not idempotent, not sent within f", retry.NotIdempotent, false, 2, retry.NotStopped},
		{"idempotent, sent within f", retry.Idempotent, true, 2, retry.NotStopped},
	} {
		for _, class := range []retry.Class{retry.ClassNotSent, retry.ClassTemporary} {
			t.Run(c.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					first := retry.Failure{Err: io.ErrUnexpectedEOF, Reason: retry.ReasonNetworkError, Idempotency: retry.Idempotent}
					if !c.sent {
						first.Stage = retry.StageBeforeSending
					}
					refused := retry.Failure{Err: errLost, Stage: retry.StageBeforeSending, Reason: retry.ReasonConnectionFailed}
					calls := 0
					err := retry.Run(t.Context(), c.idempotency, as(class), func(ctx context.Context) error {
						if calls++; calls > 1 {
							return nil
						}
						attempt, _ := script(first, refused)
						return inner.Do(ctx, retry.Operation{}, attempt)
					})
					if calls != c.calls || stopReasonOf(err) != c.stop {
						t.Errorf("%d calls, %v; want %d, %v", calls, err, c.calls, c.stop)
					}
				})
			})
		}
	}
}

func TestAnEnginesRunUsesTheEnginesOptions(t *testing.T) {
	w := &watcher{}
	breaker := retry.DefaultBreakerOptions()
	breaker.Volume = 1
	e := engine(t, retry.Options{Strategy: retry.Limited(3, retry.UntilDeadline()), Breaker: breaker, Observer: w})
	run := func(class retry.Class, times int) error {
		f, _ := failTimes(times, errLost)
		return e.Run(retry.WithData(t.Context(), "the data"), retry.ReadOnly, as(class), f)
	}
	if err := run(retry.ClassPermanent, 1); stopReasonOf(err) != retry.StopNotRetryable {
		t.Error(err)
	}
	if err := run(retry.ClassTemporary, 1); stopReasonOf(err) != retry.StopBreakerOpen {
		t.Errorf("after a permanent answer, which shows that the endpoint works, and one failure: %v", err)
	}
	want := []string{
		"attempt failed 0: UNKNOWN", "decided 0: UNKNOWN, not retryable, 0s", "ended 0: UNKNOWN, not retryable, 0s",
		"attempt failed 0: SERVICE_RESPONSE_CODE_INDICATED", "decided 0: SERVICE_RESPONSE_CODE_INDICATED, breaker open, 0s",
		"ended 0: SERVICE_RESPONSE_CODE_INDICATED, breaker open, 0s",
	}
	if got := w.lines(); !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
	if w.events[0].Data != "the data" {
		t.Errorf("the data of the context is %v in the event", w.events[0].Data)
	}
}

func TestRunIsSafeForConcurrentUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				f, calls := failTimes(1, errLost)
				if err := retry.Run(t.Context(), retry.Idempotent, as(retry.ClassNoAnswer), f); err != nil || *calls != 2 {
					t.Errorf("%d calls, %v", *calls, err)
				}
			})
		}
		all.Wait()
	})
}
