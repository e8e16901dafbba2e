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
)

func TestAnErrorTellsEveryAttempt(t *testing.T) {
	first := retry.Failure{Err: errors.New("reset"), Stage: retry.InFlight, Reason: retry.NetworkError, Effect: retry.ReadOnly, Endpoint: "a:1"}
	second := retry.Failure{Err: errors.New("refused"), Stage: retry.Dispatch, Reason: retry.ConnectionFailed}
	attempt, _ := script(first, second)
	err := engine(t, retry.Options{Strategy: retry.Once()}).Do(context.Background(), retry.Operation{}, attempt)
	const want = "refused (2 attempts: [1 at a:1, in flight, NETWORK_ERROR: reset] " +
		"[2, before sending, CONNECTION_FAILED: refused] no more: attempts used up)"
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
	attempt, _ = script(second, first)
	err = engine(t, retry.Options{Strategy: retry.Limited{Attempts: 1}}).Do(context.Background(), retry.Operation{}, attempt)
	if err == nil || !strings.Contains(err.Error(), "(1 attempt: [1, ") {
		t.Errorf("%v, want one attempt", err)
	}
}

func TestARecordHasTheFailureTheDelayAndTheWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failures := []retry.Failure{
			notMyVBucket,
			with(notMyVBucket, func(f *retry.Failure) { f.Endpoint = "b:2" }),
			with(inFlight, func(f *retry.Failure) { f.RetryAfter = 3 * ms }),
			with(inFlight, func(f *retry.Failure) { f.Refuse = retry.NotBuilt }),
		}
		attempt, _ := script(failures...)
		err := engine(t, retry.Options{Strategy: retry.UntilDeadline()}).Do(t.Context(), retry.Operation{}, attempt)
		want := []retry.Record{
			{Failure: failures[0], Delay: 1 * ms, Why: retry.Retried},
			{Failure: failures[1], Delay: 10 * ms, Why: retry.Retried},
			{Failure: failures[2], Delay: 3 * ms, Why: retry.Retried},
			{Failure: failures[3], Why: retry.NotBuilt},
		}
		var failed *retry.Error
		if !errors.As(err, &failed) || !slices.Equal(failed.Attempts, want) {
			t.Fatalf("%+v, want %+v", err, want)
		}
		if failed.Last() != want[3] || failed.Why() != retry.NotBuilt {
			t.Errorf("the last: %+v, %v", failed.Last(), failed.Why())
		}
	})
}

// "Timeouts are unambiguous when the request is idempotent, or no attempt was sent, or every sent attempt got an answer that
// means not applied; otherwise ambiguous." The same holds for every other end.
func TestOutcomeKnown(t *testing.T) {
	sent := retry.Failure{Stage: retry.InFlight}
	deduplicated := retry.Failure{Stage: retry.InFlight, Effect: retry.Idempotent}
	unsent := retry.Failure{Stage: retry.Dispatch}
	answered := retry.Failure{Stage: retry.Responded}
	open := retry.Failure{Stage: retry.Responded, Unsettled: true}
	for _, c := range []struct {
		name     string
		effect   retry.Effect
		attempts []retry.Failure
		known    bool
	}{
		{"no attempt was sent", retry.NotIdempotent, []retry.Failure{unsent}, true},
		{"no attempt of several was sent", retry.NotIdempotent, []retry.Failure{unsent, unsent, unsent}, true},
		{"every sent attempt got an answer that means not applied", retry.NotIdempotent, []retry.Failure{answered, answered}, true},
		{"every sent attempt got one, and others were not sent", retry.NotIdempotent, []retry.Failure{answered, unsent, answered}, true},
		{"the only attempt was in flight", retry.NotIdempotent, []retry.Failure{sent}, false},
		{"the first was in flight", retry.NotIdempotent, []retry.Failure{deduplicated, unsent}, false},
		{"the last was in flight", retry.NotIdempotent, []retry.Failure{unsent, answered, sent}, false},
		{"one was in flight, answers before and after it", retry.NotIdempotent, []retry.Failure{answered, deduplicated, answered}, false},
		{"an answer left it open", retry.NotIdempotent, []retry.Failure{open}, false},
		{"an answer after what was not sent left it open", retry.NotIdempotent, []retry.Failure{unsent, open}, false},
		{"a stage that was forgotten", retry.NotIdempotent, []retry.Failure{{}}, false},
		{"the request is idempotent", retry.Idempotent, []retry.Failure{sent, sent}, true},
		{"the request changes nothing", retry.ReadOnly, []retry.Failure{sent, open}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i := range c.attempts {
				c.attempts[i].Err, c.attempts[i].Reason = io.EOF, retry.PoolCleared
			}
			attempt, made := script(c.attempts...)
			op := retry.Operation{Effect: c.effect, Strategy: retry.Limited{Attempts: len(c.attempts)}}
			err := engine(t, retry.Options{Strategy: retry.Once()}).Do(context.Background(), op, attempt)
			var e *retry.Error
			if !errors.As(err, &e) || e.OutcomeKnown() != c.known || *made != len(c.attempts) {
				t.Errorf("%d attempts, %v; want %d, known: %v", *made, err, len(c.attempts), c.known)
			}
		})
	}
}

// "Either way the error matches both context.DeadlineExceeded and the last real cause, and says whether the outcome is known,
// decided from the attempts really made."
func TestATimeoutIsAmbiguousByTheAttemptsReallyMade(t *testing.T) {
	lost := with(inFlight, func(f *retry.Failure) { f.Effect = retry.NotIdempotent })
	for _, c := range []struct {
		name    string
		op      retry.Effect
		failure retry.Failure
		known   bool
	}{
		{"a timeout of an idempotent operation is always unambiguous", retry.Idempotent, lost, true},
		{"answered and not applied, until the deadline", retry.NotIdempotent, notMyVBucket, true},
		{"in flight on servers that deduplicate, until the deadline", retry.NotIdempotent, inFlight, false},
	} {
		for _, mode := range []retry.DeadlineMode{retry.GiveUp, retry.CapDelay} {
			t.Run(c.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithTimeout(t.Context(), 100*ms)
					defer cancel()
					r := do(ctx, engine(t, retry.Options{Strategy: afterEach(30 * ms), DeadlineMode: mode}), retry.Operation{Effect: c.op}, c.failure, 9)
					var e *retry.Error
					if !errors.As(r.err, &e) || e.Why() != retry.DeadlineWouldPass || e.OutcomeKnown() != c.known {
						t.Errorf("%v; want known: %v", r.err, c.known)
					}
					matches(t, r.err, context.DeadlineExceeded, c.failure.Err)
				})
			})
		}
	}
}

// errors.Is and errors.As see the last attempt's error and, where the context ended it, that; no earlier one.
func TestWhatAnErrorMatches(t *testing.T) {
	earlier, typed := errors.New("earlier"), &fs.PathError{Op: "read", Path: "socket", Err: io.ErrClosedPipe}
	last := with(inFlight, func(f *retry.Failure) { f.Err = typed })
	attempt, _ := script(with(inFlight, func(f *retry.Failure) { f.Err = earlier }), last)
	err := engine(t, retry.Options{Strategy: retry.Once()}).Do(context.Background(), retry.Operation{}, attempt)
	var path *fs.PathError
	if !errors.As(err, &path) || path != typed || !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("the last error is not found in %v", err)
	}
	if errors.Is(err, earlier) {
		t.Errorf("an earlier error is matched by %v", err)
	}
	var failed *retry.Error
	if !errors.As(err, &failed) || !errors.Is(failed.Attempts[0].Err, earlier) {
		t.Errorf("the earlier error is not kept in %v", err)
	}
}

func TestOnlyTheContextsEndMatchesAContextsError(t *testing.T) {
	for w := retry.NotRetryable; w <= retry.NotBuilt; w++ {
		if w == retry.DeadlineWouldPass || w == retry.Cancelled {
			continue
		}
		attempt, _ := script(with(inFlight, func(f *retry.Failure) { f.Refuse = w }))
		err := engine(t, retry.Options{Strategy: retry.Once()}).Do(context.Background(), retry.Operation{}, attempt)
		if whyOf(err) != w || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%v: %v", w, err)
		}
	}
}

func TestADeadlineThatHasNotComeHasNoCauseYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("the request's time is over")
		ctx, cancel := context.WithTimeoutCause(t.Context(), 100*ms, cause)
		defer cancel()
		err := do(ctx, engine(t, retry.Options{Strategy: afterEach(time.Hour)}), retry.Operation{}, inFlight, 1).err
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, cause) {
			t.Errorf("given up before the deadline: %v", err)
		}
	})
}

func TestEveryValueHasAName(t *testing.T) {
	names := map[string][]string{}
	for w := retry.Undecided; w <= retry.NotBuilt; w++ {
		names["why"] = append(names["why"], w.String())
	}
	for _, s := range []retry.Stage{retry.InFlight, retry.Dispatch, retry.Responded} {
		names["stage"] = append(names["stage"], s.String())
	}
	for _, e := range []retry.Effect{retry.NotIdempotent, retry.Idempotent, retry.ReadOnly} {
		names["effect"] = append(names["effect"], e.String())
	}
	for _, r := range retry.KnownReasons() {
		names["reason"] = append(names["reason"], r.String())
	}
	unknown := map[string]string{
		"why": (retry.NotBuilt + 1).String(), "stage": retry.Stage(99).String(), "effect": retry.Effect(99).String(), "reason": "",
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
		return retry.Failure{Err: err, Stage: retry.Responded, Reason: retry.NodeRecovering}
	}
	stopped := retry.Failure{Err: retry.ErrBreakerOpen, Stage: retry.Dispatch, Reason: retry.CircuitBreakerOpen}
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
		strategy := retry.Limited{Attempts: len(c.attempts)}
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
