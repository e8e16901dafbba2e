package retry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/couchbasereason"
)

const ms = time.Millisecond

func engine(t *testing.T, o retry.Options) *retry.Engine {
	t.Helper()
	e, err := retry.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// bucket returns a budget.
func bucket(t *testing.T, o retry.BudgetOptions) *retry.Budget {
	t.Helper()
	b, err := retry.NewBudget(o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// script returns an attempt that fails as listed and then succeeds, and the number of attempts made.
func script(failures ...retry.Failure) (retry.AttemptFunc, *int) {
	made := new(int)
	return func(_ context.Context, n int) retry.Failure {
		if n != *made {
			panic(fmt.Sprintf("attempt %d has the number %d", *made, n))
		}
		*made++
		if n < len(failures) {
			return failures[n]
		}
		return retry.Failure{}
	}, made
}

var inFlight = retry.Failure{
	Err: io.ErrUnexpectedEOF, Stage: retry.StageInFlight, Reason: retry.ReasonNetworkError, Idempotency: retry.Idempotent, Endpoint: "a:1",
}

// notMyVBucket is a failure that is always retried.
var notMyVBucket = retry.Failure{Err: io.EOF, Stage: retry.StageAnswered, Reason: couchbasereason.KVNotMyVBucket, Endpoint: "a:1"}

func with(f retry.Failure, change func(*retry.Failure)) retry.Failure {
	change(&f)
	return f
}

// afterEach returns a strategy that always retries after the same delay.
func afterEach(delay time.Duration) retry.Strategy { return saying(retry.After(delay), nil) }

// saying returns a strategy that always gives the same answer.
func saying(action retry.Action, err error) retry.Strategy {
	return retry.StrategyFunc(func(context.Context, retry.OperationState, retry.Failure) (retry.Action, error) { return action, err })
}

// run holds the results of one operation: the times of its attempts and of its end, and its error.
type run struct {
	at    []time.Duration
	ended time.Duration
	err   error
}

// do runs an operation that fails so many times in the same way and then succeeds.
func do(ctx context.Context, e *retry.Engine, op retry.Operation, failure retry.Failure, times int) run {
	var r run
	start := time.Now()
	r.err = e.Do(ctx, op, func(context.Context, int) retry.Failure {
		r.at = append(r.at, time.Since(start))
		if len(r.at) > times {
			return retry.Failure{}
		}
		return failure
	})
	r.ended = time.Since(start)
	return r
}

func (r run) check(t *testing.T, at []time.Duration, ended time.Duration, stop retry.StopReason) {
	t.Helper()
	if !slices.Equal(r.at, at) || r.ended != ended {
		t.Errorf("attempts at %v, ended at %v; want %v, %v", r.at, r.ended, at, ended)
	}
	if got := stopReasonOf(r.err); got != stop {
		t.Errorf("ended as %v, want %v (%v)", got, stop, r.err)
	}
}

// stopReasonOf returns the stop reason of an operation's error, or NotStopped if it succeeded.
func stopReasonOf(err error) retry.StopReason {
	if err == nil {
		return retry.NotStopped
	}
	var e *retry.Error
	if !errors.As(err, &e) {
		return retry.StopNone
	}
	return e.StopReason()
}

// matches checks that errors.Is finds all of them in err.
func matches(t *testing.T, err error, all ...error) {
	t.Helper()
	for _, want := range all {
		if !errors.Is(err, want) {
			t.Errorf("%v is not found in %v", want, err)
		}
	}
}
