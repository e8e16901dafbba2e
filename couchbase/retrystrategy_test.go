package couchbase

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/couchbasereason"
)

// strategyFunc is a strategy for tests.
type strategyFunc func(RetryRequest, RetryReason) RetryAction

func (f strategyFunc) RetryAfter(req RetryRequest, reason RetryReason) RetryAction {
	return f(req, reason)
}

var errLocked = errors.New("locked")

// runLocked runs an operation whose first attempts find a locked document, and returns the number of attempts.
func runLocked(t *testing.T, ctx context.Context, s RetryStrategy, locked int) (attempts int, err error) {
	t.Helper()
	engine, err := retry.New(retry.Options{Strategy: retry.RetryOnce(), DeadlineMode: retry.DeadlineCapDelay})
	if err != nil {
		t.Fatal(err)
	}
	op := retry.Operation{Name: "upsert", Strategy: engineStrategy(ctx, s)}
	err = engine.Do(context.Background(), op, func(context.Context, int) retry.Failure {
		if attempts++; attempts > locked {
			return retry.Failure{}
		}
		return retry.Failure{Err: errLocked, Reason: couchbasereason.KVLocked, Stage: retry.StageAnswered}
	})
	return attempts, err
}

func TestAStrategyReachesContextAndUserData(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		ctx := retry.WithData(context.WithValue(t.Context(), key{}, "value"), 42)
		var ids []string
		attempts, err := runLocked(t, ctx, strategyFunc(func(req RetryRequest, reason RetryReason) RetryAction {
			details, ok := req.(RetryRequestDetails)
			if !ok {
				t.Fatal("the request is no RetryRequestDetails")
			}
			if details.Context().Value(key{}) != "value" || details.UserData() != 42 || details.Operation() != "upsert" {
				t.Errorf("context %v, data %v, operation %s", details.Context(), details.UserData(), details.Operation())
			}
			if !errors.Is(details.Err(), errLocked) || reason != KVLockedRetryReason || req.Idempotent() {
				t.Errorf("error %v, reason %v, idempotent %v", details.Err(), reason, req.Idempotent())
			}
			if n := len(ids); int(req.RetryAttempts()) != n || slices.Contains(req.RetryReasons(), KVLockedRetryReason) != (n > 0) {
				t.Errorf("%d retries for %v", req.RetryAttempts(), req.RetryReasons())
			}
			ids = append(ids, req.Identifier())
			return &WithDurationRetryAction{WithDuration: time.Second}
		}), 2)
		if err != nil || attempts != 3 || len(ids) != 2 || ids[0] != ids[1] || ids[0] == "" {
			t.Errorf("%d attempts, ids %q, %v", attempts, ids, err)
		}
	})
}

func TestAStrategyDeclines(t *testing.T) {
	broken := errors.New("the strategy is broken")
	for _, c := range []struct {
		name   string
		action RetryAction
		alsoIs error
	}{
		{"by no action", nil, nil},
		{"by the action not to retry", &NoRetryRetryAction{}, nil},
		{"by a duration of 0", &WithDurationRetryAction{}, nil},
		{"by a negative duration", &WithDurationRetryAction{WithDuration: -1}, nil},
		{"because it failed", &FailedRetryAction{Err: broken}, broken},
	} {
		t.Run(c.name, func(t *testing.T) {
			attempts, err := runLocked(t, nil, strategyFunc(func(RetryRequest, RetryReason) RetryAction { return c.action }), 2)
			if attempts != 1 || !errors.Is(err, errLocked) || (c.alsoIs != nil && !errors.Is(err, c.alsoIs)) {
				t.Errorf("%d attempts, %v", attempts, err)
			}
		})
	}
}

func TestGrowingBackoffStaysInItsBounds(t *testing.T) {
	for retries, most := range []time.Duration{1, 2, 4, 8, 16, 32, 64, 128, 256, 500, 500} {
		for range 200 {
			if d := growingBackoff(uint32(retries)); d < time.Millisecond || d > most*time.Millisecond {
				t.Fatalf("after %d retries: %v", retries, d)
			}
		}
	}
	if d := growingBackoff(1 << 31); d > 500*time.Millisecond {
		t.Errorf("after very many retries: %v", d)
	}
}

func TestBestEffortFollowsItsCalculator(t *testing.T) {
	strategy := NewBestEffortRetryStrategy(func(n uint32) time.Duration { return time.Duration(n+1) * time.Hour })
	request := &retryRequest{state: &retry.OperationState{Retries: 2}, call: &requestStrategy{}, failure: &retry.Failure{}}
	if d := strategy.RetryAfter(request, KVLockedRetryReason).Duration(); d != 3*time.Hour {
		t.Errorf("a reason that permits others: %v", d)
	}
	if d := strategy.RetryAfter(request, SocketCloseInFlightRetryReason).Duration(); d != 0 {
		t.Errorf("a reason for idempotent requests only: %v", d)
	}
	if d := (&BestEffortRetryStrategy{}).RetryAfter(request, KVLockedRetryReason).Duration(); d <= 0 {
		t.Errorf("without a calculator: %v", d)
	}
}

// Every reason of the RFC has a name of its own here.
func TestEveryReasonHasAName(t *testing.T) {
	named := []RetryReason{
		UnknownRetryReason, SocketNotAvailableRetryReason, ServiceNotAvailableRetryReason, NodeNotAvailableRetryReason, KVNotMyVBucketRetryReason,
		KVCollectionOutdatedRetryReason, KVErrMapRetryReason, KVLockedRetryReason, KVTemporaryFailureRetryReason, KVSyncWriteInProgressRetryReason,
		KVSyncWriteRecommitInProgressRetryReason, ServiceResponseCodeIndicatedRetryReason, SocketCloseInFlightRetryReason,
		CircuitBreakerOpenRetryReason, QueryPreparedStatementFailureRetryReason, QueryIndexNotFoundRetryReason,
		AnalyticsTemporaryFailureRetryReason, SearchTooManyRequestsRetryReason, ViewsTemporaryFailureRetryReason, ViewsNoActivePartitionRetryReason,
	}
	for i, reason := range couchbasereason.All() {
		if named[i] != RetryReason(retryReason{reason}) {
			t.Errorf("%v is called %v", reason, named[i])
		}
	}
}
