package retry_test

import (
	"context"
	"errors"
	"testing"

	"github.com/holdfast-db/holdfast/retry"
)

var errNobody = errors.New("nobody is there")

var noAttempt = retry.Failure{Err: errNobody, Stage: retry.StageBeforeSending, NoAttempt: true, Stop: retry.StopNoServer}

// An operation that came to no attempt has an error without attempts, which says why, and that the outcome is known.
func TestAnOperationWithoutAnAttempt(t *testing.T) {
	attempt, _ := script(noAttempt)
	var seen watcher
	e := engine(t, retry.Options{Strategy: retry.RetryOnce(), Observer: &seen})
	err := e.Do(context.Background(), retry.Operation{Idempotency: retry.NotIdempotent}, attempt)
	var failed *retry.Error
	if !errors.As(err, &failed) || len(failed.Attempts) != 0 || failed.Total != 0 || len(failed.Omitted) != 0 {
		t.Fatalf("%+v", err)
	}
	if failed.StopReason() != retry.StopNoServer || !errors.Is(failed.Last().Err, errNobody) || !failed.OutcomeKnown() || failed.MayHaveApplied() || failed.Timeout() {
		t.Errorf("%+v", failed)
	}
	if !errors.Is(err, errNobody) || err.Error() != "nobody is there (no attempt: no server)" || failed.History() != "no attempt: no server" {
		t.Errorf("%v", err)
	}
	if last := seen.events[len(seen.events)-1]; last.Kind != retry.EventEnded || last.Attempt != 0 || last.StopReason != retry.StopNoServer {
		t.Errorf("%+v", last)
	}
}

// The end of the context is found in it.
func TestTheContextOfAnOperationWithoutAnAttempt(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("why")
	err := engine(t, retry.Options{Strategy: retry.RetryOnce()}).Do(ctx, retry.Operation{}, func(context.Context, int) retry.Failure {
		cancel(cause)
		return noAttempt
	})
	var failed *retry.Error
	if !errors.As(err, &failed) || failed.Total != 0 || failed.StopReason() != retry.StopCancelled || !errors.Is(err, context.Canceled) || !errors.Is(err, cause) {
		t.Errorf("%v", err)
	}
}

// After an attempt it is a failure like others.
func TestAFailureWithNoAttemptAfterOthers(t *testing.T) {
	attempt, _ := script(notMyVBucket, noAttempt)
	err := engine(t, retry.Options{Strategy: retry.RetryOnce()}).Do(context.Background(), retry.Operation{}, attempt)
	var failed *retry.Error
	if !errors.As(err, &failed) || failed.Total != 2 || failed.StopReason() != retry.StopNoServer || !errors.Is(failed.Last().Err, errNobody) {
		t.Errorf("%v", err)
	}
}

// A value that a program made itself has methods that work.
func TestAnEmptyError(t *testing.T) {
	var empty retry.Error
	if empty.Last().Err != nil || empty.StopReason() != retry.StopNone || empty.Error() != "no attempt: undecided" ||
		empty.History() != empty.Error() || len(empty.Unwrap()) != 0 || !empty.OutcomeKnown() || empty.MayHaveApplied() || empty.Timeout() {
		t.Errorf("%+v", empty)
	}
	if errors.Is(&empty, errNobody) {
		t.Error("an empty error is errNobody")
	}
}
