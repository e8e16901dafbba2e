package retry_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/mongoreason"
)

func TestTheTextOfAnErrorHasEveryAttempt(t *testing.T) {
	first := retry.Failure{Err: errors.New("reset"), Stage: retry.StageInFlight, Reason: retry.ReasonNetworkError, Idempotency: retry.ReadOnly, Endpoint: "a:1"}
	second := retry.Failure{Err: errors.New("refused"), Stage: retry.StageBeforeSending, Reason: retry.ReasonConnectionFailed}
	attempt, _ := script(first, second)
	err := engine(t, retry.Options{Strategy: retry.RetryOnce()}).Do(context.Background(), retry.Operation{}, attempt)
	const want = "refused (2 attempts: [1 at a:1, in flight, NETWORK_ERROR: reset] " +
		"[2, before sending, CONNECTION_FAILED: refused] no more: attempts used up)"
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
	attempt, _ = script(second, first)
	err = engine(t, retry.Options{Strategy: retry.Limited(1, retry.UntilDeadline())}).Do(context.Background(), retry.Operation{}, attempt)
	if err == nil || !strings.Contains(err.Error(), "(1 attempt: [1, ") {
		t.Errorf("%v, want one attempt", err)
	}
}

func TestARecordHasTheFailureTheDelayAndTheStopReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failures := []retry.Failure{
			notMyVBucket,
			with(notMyVBucket, func(f *retry.Failure) { f.Endpoint = "b:2" }),
			with(inFlight, func(f *retry.Failure) { f.RetryAfter = 3 * ms }),
			with(inFlight, func(f *retry.Failure) { f.Stop = retry.StopNotBuilt }),
		}
		attempt, _ := script(failures...)
		err := engine(t, retry.Options{Strategy: retry.UntilDeadline()}).Do(t.Context(), retry.Operation{}, attempt)
		want := []retry.Record{
			{Failure: failures[0], Delay: 1 * ms, StopReason: retry.NotStopped},
			{Failure: failures[1], Delay: 10 * ms, StopReason: retry.NotStopped},
			{Failure: failures[2], Delay: 3 * ms, StopReason: retry.NotStopped},
			{Failure: failures[3], StopReason: retry.StopNotBuilt},
		}
		var failed *retry.Error
		if !errors.As(err, &failed) || !slices.Equal(failed.Attempts, want) {
			t.Fatalf("%+v, want %+v", err, want)
		}
		if failed.Last() != want[3] || failed.StopReason() != retry.StopNotBuilt {
			t.Errorf("the last record: %+v, %v", failed.Last(), failed.StopReason())
		}
	})
}

// "Timeouts are unambiguous when the request is idempotent, or no attempt was sent, or every sent attempt got an answer that
// means not applied; otherwise ambiguous." The same rule holds for every other end of an operation.
func TestOutcomeKnown(t *testing.T) {
	sent := retry.Failure{Stage: retry.StageInFlight}
	deduplicated := retry.Failure{Stage: retry.StageInFlight, Idempotency: retry.Idempotent}
	unsent := retry.Failure{Stage: retry.StageBeforeSending}
	answered := retry.Failure{Stage: retry.StageAnswered}
	unsettled := retry.Failure{Stage: retry.StageAnswered, Unsettled: true}
	for _, c := range []struct {
		name        string
		idempotency retry.Idempotency
		attempts    []retry.Failure
		known       bool
	}{
		{"no attempt was sent", retry.NotIdempotent, []retry.Failure{unsent}, true},
		{"no attempt of several was sent", retry.NotIdempotent, []retry.Failure{unsent, unsent, unsent}, true},
		{"every sent attempt got an answer that means not applied", retry.NotIdempotent, []retry.Failure{answered, answered}, true},
		{"every sent attempt got such an answer, and others were not sent", retry.NotIdempotent, []retry.Failure{answered, unsent, answered}, true},
		{"the only attempt was in flight", retry.NotIdempotent, []retry.Failure{sent}, false},
		{"the first was in flight", retry.NotIdempotent, []retry.Failure{deduplicated, unsent}, false},
		{"the last was in flight", retry.NotIdempotent, []retry.Failure{unsent, answered, sent}, false},
		{"one was in flight, with answers before and after it", retry.NotIdempotent, []retry.Failure{answered, deduplicated, answered}, false},
		{"an unsettled answer", retry.NotIdempotent, []retry.Failure{unsettled}, false},
		{"an unsettled answer after an attempt that was not sent", retry.NotIdempotent, []retry.Failure{unsent, unsettled}, false},
		{"a forgotten stage", retry.NotIdempotent, []retry.Failure{{}}, false},
		{"the request is idempotent", retry.Idempotent, []retry.Failure{sent, sent}, true},
		{"the request is read only", retry.ReadOnly, []retry.Failure{sent, unsettled}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i := range c.attempts {
				c.attempts[i].Err, c.attempts[i].Reason = io.EOF, mongoreason.PoolCleared
			}
			attempt, made := script(c.attempts...)
			op := retry.Operation{Idempotency: c.idempotency, Strategy: retry.Limited(len(c.attempts), retry.UntilDeadline())}
			err := engine(t, retry.Options{Strategy: retry.RetryOnce()}).Do(context.Background(), op, attempt)
			var e *retry.Error
			if !errors.As(err, &e) || e.OutcomeKnown() != c.known || *made != len(c.attempts) {
				t.Errorf("%d attempts, %v; want %d, known: %v", *made, err, len(c.attempts), c.known)
			}
		})
	}
}

// "Either way the error matches both context.DeadlineExceeded and the last real cause, and says whether the outcome is known,
// decided from the attempts really made."
func TestWhetherATimeoutIsAmbiguousDependsOnTheAttemptsMade(t *testing.T) {
	lost := with(inFlight, func(f *retry.Failure) { f.Idempotency = retry.NotIdempotent })
	for _, c := range []struct {
		name    string
		op      retry.Idempotency
		failure retry.Failure
		known   bool
	}{
		{"a timeout of an idempotent operation is always unambiguous", retry.Idempotent, lost, true},
		{"answered and not applied, until the deadline", retry.NotIdempotent, notMyVBucket, true},
		{"in flight on servers that recognise repetitions, until the deadline", retry.NotIdempotent, inFlight, false},
	} {
		for _, mode := range []retry.DeadlineMode{retry.DeadlineGiveUp, retry.DeadlineCapDelay} {
			t.Run(c.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithTimeout(t.Context(), 100*ms)
					defer cancel()
					r := do(ctx, engine(t, retry.Options{Strategy: afterEach(30 * ms), DeadlineMode: mode}), retry.Operation{Idempotency: c.op}, c.failure, 9)
					var e *retry.Error
					if !errors.As(r.err, &e) || e.StopReason() != retry.StopDeadlineWouldPass || e.OutcomeKnown() != c.known {
						t.Errorf("%v; want known: %v", r.err, c.known)
					}
					matches(t, r.err, context.DeadlineExceeded, c.failure.Err)
				})
			})
		}
	}
}

// errors.Is and errors.As find the last attempt's error and no earlier one.
func TestAnErrorMatchesTheLastAttemptsError(t *testing.T) {
	earlier, typed := errors.New("earlier"), &fs.PathError{Op: "read", Path: "socket", Err: io.ErrClosedPipe}
	last := with(inFlight, func(f *retry.Failure) { f.Err = typed })
	attempt, _ := script(with(inFlight, func(f *retry.Failure) { f.Err = earlier }), last)
	err := engine(t, retry.Options{Strategy: retry.RetryOnce()}).Do(context.Background(), retry.Operation{}, attempt)
	var path *fs.PathError
	if !errors.As(err, &path) || path != typed || !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("the last error is not found in %v", err)
	}
	if errors.Is(err, earlier) {
		t.Errorf("an earlier error is found in %v", err)
	}
	var failed *retry.Error
	if !errors.As(err, &failed) || !errors.Is(failed.Attempts[0].Err, earlier) {
		t.Errorf("the earlier error is not kept in %v", err)
	}
}

func TestOnlyTheEndOfTheContextMatchesAnErrorOfThePackageContext(t *testing.T) {
	for w := retry.StopNotRetryable; w <= retry.StopNotReplayable; w++ {
		if w == retry.StopDeadlineWouldPass || w == retry.StopCancelled {
			continue
		}
		attempt, _ := script(with(inFlight, func(f *retry.Failure) { f.Stop = w }))
		err := engine(t, retry.Options{Strategy: retry.RetryOnce()}).Do(context.Background(), retry.Operation{}, attempt)
		if stopReasonOf(err) != w || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%v: %v", w, err)
		}
	}
}

func TestADeadlineThatHasNotPassedHasNoCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("the request's time is over")
		ctx, cancel := context.WithTimeoutCause(t.Context(), 100*ms, cause)
		defer cancel()
		err := do(ctx, engine(t, retry.Options{Strategy: afterEach(time.Hour)}), retry.Operation{}, inFlight, 1).err
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, cause) {
			t.Errorf("the operation ended before the deadline with: %v", err)
		}
	})
}

func TestEveryValueHasAName(t *testing.T) {
	names := map[string][]string{}
	for w := retry.StopNone; w <= retry.StopNotReplayable; w++ {
		names["stop reason"] = append(names["stop reason"], w.String())
	}
	for _, s := range []retry.Stage{retry.StageInFlight, retry.StageBeforeSending, retry.StageAnswered} {
		names["stage"] = append(names["stage"], s.String())
	}
	for _, e := range []retry.Idempotency{retry.NotIdempotent, retry.Idempotent, retry.ReadOnly} {
		names["idempotency"] = append(names["idempotency"], e.String())
	}
	for _, r := range retry.KnownReasons() {
		names["reason"] = append(names["reason"], r.String())
	}
	unknown := map[string]string{
		"stop reason": (retry.StopNotReplayable + 1).String(), "stage": retry.Stage(99).String(), "idempotency": retry.Idempotency(99).String(), "reason": "",
	}
	for kind, all := range names {
		slices.Sort(all)
		if len(slices.Compact(slices.Clone(all))) != len(all) || slices.Contains(all, "") || slices.Contains(all, unknown[kind]) {
			t.Errorf("names of a %s: %q", kind, all)
		}
	}
}

// A breaker that stopped the last attempts does not hide the error of the last one that was made.
func TestTheErrorBehindAnOpenBreakerIsFound(t *testing.T) {
	early, late := errors.New("early"), errors.New("late")
	failed := func(err error) retry.Failure {
		return retry.Failure{Err: err, Stage: retry.StageAnswered, Reason: mongoreason.NodeRecovering}
	}
	stopped := retry.Failure{Err: retry.ErrBreakerOpen, Stage: retry.StageBeforeSending, Reason: retry.ReasonCircuitBreakerOpen}
	for _, c := range []struct {
		name     string
		attempts []retry.Failure
		has, not []error
	}{
		{"none was stopped", []retry.Failure{failed(early), failed(late)}, []error{late}, []error{early, retry.ErrBreakerOpen}},
		{"the last was stopped", []retry.Failure{failed(early), failed(late), stopped}, []error{late, retry.ErrBreakerOpen}, []error{early}},
		{"the last two were stopped", []retry.Failure{failed(late), stopped, stopped}, []error{late, retry.ErrBreakerOpen}, []error{early}},
		{"all were stopped", []retry.Failure{stopped, stopped}, []error{retry.ErrBreakerOpen}, []error{early, late}},
		{"one before the last was stopped", []retry.Failure{failed(early), stopped, failed(late)}, []error{late}, []error{early, retry.ErrBreakerOpen}},
	} {
		attempt, _ := script(c.attempts...)
		strategy := retry.Limited(len(c.attempts), retry.UntilDeadline())
		err := engine(t, retry.Options{Strategy: strategy}).Do(t.Context(), retry.Operation{}, attempt)
		matches(t, err, c.has...)
		for _, other := range c.not {
			if errors.Is(err, other) {
				t.Errorf("%s: %v is found in %v", c.name, other, err)
			}
		}
		var all interface{ Unwrap() []error }
		if !errors.As(err, &all) || len(all.Unwrap()) != len(c.has) {
			t.Errorf("%s: %d errors, want %d", c.name, len(all.Unwrap()), len(c.has))
		}
	}
}

// An error holds the last attempt's, the context's end and, where there is another, its cause: each once.
func TestWhatAnErrorUnwrapsTo(t *testing.T) {
	own := errors.New("the caller's own cause")
	slow := retry.Options{Strategy: afterEach(time.Hour)}
	for _, c := range []struct {
		name string
		ctx  func(context.Context) (context.Context, context.CancelFunc)
		want []error
	}{
		{"a deadline that would pass", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Minute)
		}, []error{io.ErrUnexpectedEOF, context.DeadlineExceeded}},
		{"a deadline that has passed", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, -time.Minute)
		}, []error{io.ErrUnexpectedEOF, context.DeadlineExceeded}},
		{"a deadline that has passed, with a cause", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeoutCause(ctx, -time.Minute, own)
		}, []error{io.ErrUnexpectedEOF, context.DeadlineExceeded, own}},
		{"a cancellation", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			return ctx, cancel
		}, []error{io.ErrUnexpectedEOF, context.Canceled}},
		{"a cancellation with a cause", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			cancel(own)
			return ctx, func() { cancel(nil) }
		}, []error{io.ErrUnexpectedEOF, context.Canceled, own}},
	} {
		ctx, cancel := c.ctx(t.Context())
		attempt, _ := script(inFlight)
		err := engine(t, slow).Do(ctx, retry.Operation{}, attempt)
		cancel()
		var failed *retry.Error
		if !errors.As(err, &failed) || !slices.Equal(failed.Unwrap(), c.want) {
			t.Errorf("%s: %v, want %v", c.name, failed.Unwrap(), c.want)
		}
	}
}
