package retry_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/mongoreason"
)

// numbered returns n failures with the numbers of the attempts as their errors, from 1.
func numbered(n int) []retry.Failure {
	all := make([]retry.Failure, n)
	for i := range all {
		all[i] = with(inFlight, func(f *retry.Failure) { f.Err = fmt.Errorf("e%d", i+1) })
	}
	return all
}

// failed returns the error of an operation whose attempts fail as listed.
func failed(t *testing.T, idempotency retry.Idempotency, failures ...retry.Failure) *retry.Error {
	t.Helper()
	attempt, made := script(failures...)
	op := retry.Operation{Idempotency: idempotency, Strategy: retry.Limited(len(failures), retry.UntilDeadline())}
	err := engine(t, retry.Options{Strategy: retry.RetryOnce()}).Do(t.Context(), op, attempt)
	var e *retry.Error
	if !errors.As(err, &e) || *made != len(failures) {
		t.Fatalf("%d attempts of %d, then %v", *made, len(failures), err)
	}
	return e
}

func TestAnErrorKeepsTheFirstFourAndTheLastFourAttempts(t *testing.T) {
	for total, want := range map[int]string{
		1:   "e1",
		7:   "e1 e2 e3 e4 e5 e6 e7",
		8:   "e1 e2 e3 e4 e5 e6 e7 e8",
		9:   "e1 e2 e3 e4 e6 e7 e8 e9",
		100: "e1 e2 e3 e4 e97 e98 e99 e100",
	} {
		e := failed(t, retry.Idempotent, numbered(total)...)
		var got []string
		for _, a := range e.Attempts {
			got = append(got, a.Err.Error())
		}
		if strings.Join(got, " ") != want || e.Total != total {
			t.Errorf("of %d attempts it keeps %q and counts %d; want %s", total, got, e.Total, want)
		}
		counted := len(e.Attempts)
		for _, o := range e.Omitted {
			counted += o.Count
		}
		if counted != total {
			t.Errorf("%d attempts are kept or counted, of %d", counted, total)
		}
		if e.Last().Err.Error() != fmt.Sprintf("e%d", total) || e.StopReason() != retry.StopAttemptsUsed {
			t.Errorf("the last attempt is %+v", e.Last())
		}
	}
}

func TestTheAttemptsBetweenAreCountedByReasonAndEndpoint(t *testing.T) {
	refused := retry.Failure{Err: errLost, Stage: retry.StageBeforeSending, Reason: retry.ReasonConnectionFailed, Endpoint: "b:2"}
	failures := numbered(12)
	failures[5], failures[6] = refused, refused
	e := failed(t, retry.Idempotent, failures...)
	const want = "e12 (12 attempts: [1 at a:1, in flight, NETWORK_ERROR: e1] [2 at a:1, in flight, NETWORK_ERROR: e2] " +
		"[3 at a:1, in flight, NETWORK_ERROR: e3] [4 at a:1, in flight, NETWORK_ERROR: e4] " +
		"... 4 more attempts: 2 x NETWORK_ERROR at a:1, 2 x CONNECTION_FAILED at b:2 ... " +
		"[9 at a:1, in flight, NETWORK_ERROR: e9] [10 at a:1, in flight, NETWORK_ERROR: e10] [11 at a:1, in flight, NETWORK_ERROR: e11] " +
		"[12 at a:1, in flight, NETWORK_ERROR: e12] no more: attempts used up)"
	if e.Error() != want {
		t.Errorf("%v\nwant %s", e, want)
	}
}

func TestAtMostEightPairsOfReasonAndEndpointAreCountedApart(t *testing.T) {
	failures := numbered(100)
	for i := range failures {
		failures[i].Endpoint = fmt.Sprint("host", i)
	}
	e := failed(t, retry.Idempotent, failures...)
	if len(e.Omitted) != 9 || e.Omitted[8] != (retry.Omitted{Count: 100 - 8 - 8}) {
		t.Errorf("%d pairs, the last is %+v", len(e.Omitted), e.Omitted[len(e.Omitted)-1])
	}
	if text := e.History(); !strings.Contains(text, ", 1 x NETWORK_ERROR at host11, 84 x others ... [97 at host96,") {
		t.Errorf("%s", text)
	}
}

// "OutcomeKnown is updated at each attempt, so that dropping middle attempts loses nothing."
func TestAnAttemptThatIsNotKeptCountsForTheOutcome(t *testing.T) {
	refused := retry.Failure{Err: errLost, Stage: retry.StageBeforeSending, Reason: mongoreason.PoolCleared}
	for n := range 20 {
		failures := make([]retry.Failure, 20)
		for i := range failures {
			failures[i] = refused
		}
		if n > 0 {
			failures[n] = inFlight
		}
		for _, idempotency := range idempotencies {
			e := failed(t, idempotency, failures...)
			if want := n == 0 || idempotency != retry.NotIdempotent; e.OutcomeKnown() != want || e.MayHaveApplied() != (n > 0) {
				t.Errorf("%v, attempt %d was in flight: the outcome is known: %v; may have been applied: %v", idempotency, n, e.OutcomeKnown(), e.MayHaveApplied())
			}
		}
	}
}

// A breaker that stopped many of the last attempts does not hide the error of the last one that was made.
func TestTheErrorBehindAnOpenBreakerIsFoundThoughItsAttemptIsNotKept(t *testing.T) {
	failures := []retry.Failure{with(inFlight, func(f *retry.Failure) { f.Err = errLost })}
	for range 30 {
		failures = append(failures, retry.Failure{Err: retry.ErrBreakerOpen, Stage: retry.StageBeforeSending, Reason: retry.ReasonCircuitBreakerOpen})
	}
	failures[9].Err, failures[9].Reason = errBusy, retry.ReasonConnectionFailed
	e := failed(t, retry.Idempotent, failures...)
	matches(t, e, errBusy, retry.ErrBreakerOpen)
	if errors.Is(e, errLost) {
		t.Errorf("an earlier error is found in %v", e)
	}
}

// The retries stay exact, and so do the reasons, beyond the attempts that are kept.
func TestAStrategySeesAllRetriesAndReasons(t *testing.T) {
	asked := 0
	strategy := retry.StrategyFunc(func(_ context.Context, r retry.OperationState, _ retry.Failure) (retry.Action, error) {
		if r.Retries != asked || asked > 5 && !r.Reasons.Has(retry.ReasonConflict) {
			t.Errorf("asked for the %d. time, it sees %d retries and CONFLICT %v", asked, r.Retries, r.Reasons.Has(retry.ReasonConflict))
		}
		asked++
		return retry.After(0), nil
	})
	failures := numbered(50)
	failures[5].Reason = retry.ReasonConflict
	attempt, _ := script(failures...)
	if err := engine(t, retry.Options{Strategy: strategy}).Do(t.Context(), retry.Operation{}, attempt); err != nil || asked != 50 {
		t.Errorf("asked %d times: %v", asked, err)
	}
}

// heap returns the memory in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// One hour of retries: the memory and the text of the error do not grow with the number of attempts.
func TestTheErrorOfTenMinutesOfRetriesIsSmall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		e := engine(t, retry.Options{Strategy: retry.BestEffort(retry.BackoffOptions{Min: 10 * ms, Max: 20 * ms})})
		before := heap()
		attempts := 0
		err := e.Do(ctx, retry.Operation{Idempotency: retry.Idempotent}, func(context.Context, int) retry.Failure {
			attempts++
			return with(inFlight, func(f *retry.Failure) {
				f.Err = fmt.Errorf("attempt %d: %s", attempts, strings.Repeat("x", 500))
				f.Endpoint = fmt.Sprint("host", attempts)
			})
		})
		grown := int64(heap()) - int64(before)
		var failed *retry.Error
		if !errors.As(err, &failed) || failed.Total != attempts || attempts < 30_000 {
			t.Fatalf("%d attempts, then %v", attempts, err)
		}
		if grown > 100_000 {
			t.Errorf("the error of %d attempts takes %d bytes", attempts, grown)
		}
		if n := len(err.Error()); n > 10_000 {
			t.Errorf("the text of %d attempts has %d bytes", attempts, n)
		}
		runtime.KeepAlive(err)
	})
}

// Each error and each endpoint is cut in the history, but not within a character. The last error's own text comes first, whole.
func TestTheTextOfAHugeErrorIsCutInTheHistory(t *testing.T) {
	huge := strings.Repeat("ä", 5000)
	failures := numbered(20)
	for i := range failures {
		failures[i].Err, failures[i].Endpoint = errors.New("x"+huge), huge
	}
	e := failed(t, retry.Idempotent, failures...)
	text := e.History()
	if len(text) > 8*1500+9*300 || !utf8.ValidString(text) {
		t.Errorf("the history has %d bytes, valid: %v", len(text), utf8.ValidString(text))
	}
	if want := ": x" + strings.Repeat("ä", 499) + "... (9002 more bytes)] "; !strings.Contains(text, want) {
		t.Errorf("%s", text)
	}
	if !strings.HasPrefix(e.Error(), "x"+huge+" (20 attempts: ") {
		t.Error("the last error is not at the beginning")
	}
	if plain := failed(t, retry.Idempotent, retry.Failure{Err: errors.New(strings.Repeat("y", 1000)), Stage: retry.StageBeforeSending}); strings.Contains(plain.History(), "more bytes") {
		t.Error("an error of 1,000 bytes was cut")
	}
}

// An operation within an attempt of another: its error is cut like any other.
func TestTheTextOfNestedErrorsStaysSmall(t *testing.T) {
	err := error(failed(t, retry.Idempotent, numbered(20)...))
	for range 30 {
		failures := numbered(20)
		for i := range failures {
			failures[i].Err = err
		}
		err = failed(t, retry.Idempotent, failures...)
	}
	text := err.Error()
	if n := len(text); n > 31*12_000 {
		t.Errorf("the text has %d bytes", n)
	}
	if want := "[20 at a:1, in flight, NETWORK_ERROR: e20 (20 attempts, no more: attempts used up) (20 attempts, "; !strings.Contains(text, want) {
		t.Errorf("%.2000s", text)
	}
}
