package retry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/retry"
)

func engine(t *testing.T, o retry.Options) *retry.Engine {
	t.Helper()
	e, err := retry.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// script returns an attempt that fails as listed and then succeeds, and a count of the attempts.
func script(failures ...retry.Failure) (retry.Attempt, *int) {
	made := new(int)
	return func(_ context.Context, n int) retry.Failure {
		if n != *made {
			panic(fmt.Sprintf("attempt %d is said to be %d", *made, n))
		}
		*made++
		if n < len(failures) {
			return failures[n]
		}
		return retry.Failure{}
	}, made
}

var inFlight = retry.Failure{
	Err: io.ErrUnexpectedEOF, Stage: retry.InFlight, Reason: retry.NetworkError, Effect: retry.Idempotent, Endpoint: "a:1",
}

func with(f retry.Failure, change func(*retry.Failure)) retry.Failure {
	change(&f)
	return f
}

// Every row is a sentence of DESIGN.md section 2, of RFC 0049 or of the MongoDB specifications.
func TestVerdicts(t *testing.T) {
	always := retry.StrategyFunc(func(context.Context, retry.Request, retry.Failure) (retry.Action, error) {
		return retry.After(0), nil
	})
	for _, c := range []struct {
		name     string
		strategy retry.Strategy
		failures []retry.Failure
		attempts int
		why      retry.Why // Retried: the operation succeeds
	}{
		{"success is one attempt", retry.Once(), nil, 1, retry.Retried},
		{"an idempotent attempt in flight is retried", retry.Once(), []retry.Failure{inFlight}, 2, retry.Retried},
		{"once means once", retry.Once(), []retry.Failure{inFlight, inFlight}, 2, retry.AttemptsUsed},
		{
			"in flight and not idempotent is not retried", retry.Once(),
			[]retry.Failure{with(inFlight, func(f *retry.Failure) { f.Effect = retry.NotIdempotent })},
			1, retry.NotIdempotentOp,
		},
		{
			"what was not sent is retried whatever its effect", retry.Once(),
			[]retry.Failure{with(inFlight, func(f *retry.Failure) { f.Effect, f.Stage = retry.NotIdempotent, retry.Dispatch })},
			2, retry.Retried,
		},
		{
			"an answer that means not applied is retried whatever the effect", retry.Once(),
			[]retry.Failure{{Err: io.EOF, Stage: retry.Responded, Reason: retry.NotWritablePrimary}},
			2, retry.Retried,
		},
		{
			"an answer that leaves the effect open is not retried", retry.Once(),
			[]retry.Failure{{Err: io.EOF, Stage: retry.Responded, Reason: retry.NodeRecovering, Unsettled: true}},
			1, retry.NotIdempotentOp,
		},
		{
			"an unknown reason is refused before the strategy is asked", always,
			[]retry.Failure{with(inFlight, func(f *retry.Failure) { f.Reason = retry.UnknownReason })},
			1, retry.NotRetryable,
		},
		{
			"the attempt's own refusal is final", always,
			[]retry.Failure{with(inFlight, func(f *retry.Failure) { f.Refuse = retry.NoServer })},
			1, retry.NoServer,
		},
		{
			"the zero action declines",
			retry.StrategyFunc(func(context.Context, retry.Request, retry.Failure) (retry.Action, error) { return retry.Action{}, nil }),
			[]retry.Failure{inFlight},
			1, retry.StrategyDeclined,
		},
		{
			"a strategy's error declines",
			retry.StrategyFunc(func(context.Context, retry.Request, retry.Failure) (retry.Action, error) {
				return retry.After(0), io.EOF
			}),
			[]retry.Failure{inFlight},
			1, retry.StrategyDeclined,
		},
		{"an operation that is declined says why", retry.StrategyFunc(
			func(context.Context, retry.Request, retry.Failure) (retry.Action, error) {
				return retry.Decline(retry.Disabled), nil
			},
		), []retry.Failure{inFlight}, 1, retry.Disabled},
	} {
		t.Run(c.name, func(t *testing.T) {
			attempt, made := script(c.failures...)
			err := engine(t, retry.Options{Strategy: retry.Once()}).Do(context.Background(), retry.Operation{Strategy: c.strategy}, attempt)
			if *made != c.attempts {
				t.Errorf("%d attempts, want %d", *made, c.attempts)
			}
			if (err == nil) != (c.why == retry.Retried) {
				t.Fatalf("error: %v", err)
			}
			var e *retry.Error
			if errors.As(err, &e) && e.Why() != c.why {
				t.Errorf("because %v, want %v", e.Why(), c.why)
			}
			if err != nil && !errors.Is(err, c.failures[c.attempts-1].Err) {
				t.Errorf("the last error is not found in %v", err)
			}
		})
	}
}

func TestTheRequestsStrategyGoesBeforeTheEngines(t *testing.T) {
	never := retry.StrategyFunc(func(context.Context, retry.Request, retry.Failure) (retry.Action, error) {
		return retry.Decline(retry.Disabled), nil
	})
	e := engine(t, retry.Options{Strategy: never})
	attempt, made := script(inFlight)
	if err := e.Do(context.Background(), retry.Operation{}, attempt); err == nil || *made != 1 {
		t.Errorf("the engine's strategy: %d attempts, %v", *made, err)
	}
	attempt, made = script(inFlight)
	if err := e.Do(context.Background(), retry.Operation{Strategy: retry.Once()}, attempt); err != nil || *made != 2 {
		t.Errorf("the request's strategy: %d attempts, %v", *made, err)
	}
}

func TestTheStrategySeesRetriesReasonsAndData(t *testing.T) {
	var seen []string
	strategy := retry.StrategyFunc(func(_ context.Context, r retry.Request, f retry.Failure) (retry.Action, error) {
		seen = append(seen, fmt.Sprintf("%d %v %v %v", r.Retries, r.Data, r.Reasons.Has(retry.PoolCleared), f.Reason))
		return retry.After(0), nil
	})
	attempt, _ := script(
		retry.Failure{Err: io.EOF, Stage: retry.Dispatch, Reason: retry.PoolCleared}, inFlight)
	err := engine(t, retry.Options{Strategy: retry.Once()}).Do(context.Background(), retry.Operation{Strategy: strategy, Data: "mine"}, attempt)
	want := "0 mine false POOL_CLEARED, 1 mine true NETWORK_ERROR"
	if got := strings.Join(seen, ", "); got != want || err != nil {
		t.Errorf("got %s, want %s (%v)", got, want, err)
	}
}

func TestDelaysAndTheDeadline(t *testing.T) {
	const delay = 100 * time.Millisecond
	waiting := retry.StrategyFunc(func(context.Context, retry.Request, retry.Failure) (retry.Action, error) {
		return retry.After(delay), nil
	})
	for _, c := range []struct {
		name     string
		mode     retry.DeadlineMode
		deadline time.Duration
		attempts int
		took     time.Duration
	}{
		{"two delays fit", retry.GiveUp, 250 * time.Millisecond, 3, 2 * delay},
		{"give up at once when the delay would pass the deadline", retry.GiveUp, 150 * time.Millisecond, 2, delay},
		{"a delay that ends with the deadline passes it", retry.GiveUp, delay, 1, 0},
		{"capped to what is left, then failed without sending", retry.CapDelay, 150 * time.Millisecond, 2, 150 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(context.Background(), c.deadline)
				defer cancel()
				attempt, made := script(inFlight, inFlight, inFlight, inFlight)
				start := time.Now()
				err := engine(t, retry.Options{Strategy: retry.Once(), DeadlineMode: c.mode}).Do(ctx, retry.Operation{Strategy: waiting}, attempt)
				if took := time.Since(start); took != c.took || *made != c.attempts {
					t.Errorf("%d attempts in %v, want %d in %v", *made, took, c.attempts, c.took)
				}
				if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Errorf("the error is not both the deadline's and the last attempt's: %v", err)
				}
			})
		})
	}
}

func TestCancellationDuringAWaitReturnsInTheSameInstant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(40*time.Millisecond, cancel)
		waiting := retry.StrategyFunc(func(context.Context, retry.Request, retry.Failure) (retry.Action, error) {
			return retry.After(time.Hour), nil
		})
		attempt, made := script(inFlight)
		start := time.Now()
		err := engine(t, retry.Options{Strategy: retry.Once()}).Do(ctx, retry.Operation{Strategy: waiting}, attempt)
		if took := time.Since(start); took != 40*time.Millisecond || *made != 1 {
			t.Errorf("%d attempts in %v", *made, took)
		}
		var e *retry.Error
		if !errors.Is(err, context.Canceled) || !errors.Is(err, io.ErrUnexpectedEOF) || !errors.As(err, &e) || e.Why() != retry.Cancelled {
			t.Errorf("error: %v", err)
		}
	})
}

func TestACancellationsCauseIsFoundBesideIt(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	err := engine(t, retry.Options{Strategy: retry.Once()}).Do(ctx, retry.Operation{}, func(context.Context, int) retry.Failure {
		cancel(cause)
		return inFlight
	})
	for _, want := range []error{context.Canceled, cause, io.ErrUnexpectedEOF} {
		if !errors.Is(err, want) {
			t.Errorf("%v is not found in %v", want, err)
		}
	}
}

func TestACancelledContextIsNeverRetried(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	attempt := func(context.Context, int) retry.Failure {
		cancel()
		return inFlight
	}
	err := engine(t, retry.Options{Strategy: retry.Once()}).Do(ctx, retry.Operation{Strategy: retry.UntilDeadline()}, attempt)
	var e *retry.Error
	if !errors.As(err, &e) || len(e.Attempts) != 1 || e.Why() != retry.Cancelled {
		t.Errorf("error: %v", err)
	}
}

func TestControlledBackoffIsTheExactLadder(t *testing.T) {
	want := []time.Duration{1, 10, 50, 100, 500, 1000, 1000, 1000}
	for retries, ms := range want {
		if got := retry.ControlledBackoff(retries); got != ms*time.Millisecond {
			t.Errorf("after %d retries: %v, want %v", retries, got, ms*time.Millisecond)
		}
	}
}

func TestBadOptionsAreAnError(t *testing.T) {
	if _, err := retry.New(retry.Options{Strategy: retry.Once(), DeadlineMode: 7}); err == nil || !strings.Contains(err.Error(), "DeadlineMode") {
		t.Errorf("error: %v", err)
	}
}
