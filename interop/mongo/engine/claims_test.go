package engine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	retrygo "github.com/avast/retry-go/v5"
	"github.com/cenkalti/backoff/v7"
	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/retrypolicy"

	"github.com/holdfast-db/holdfast/retry"
)

var errRefused = errors.New("refused")

const (
	claimDelay    = 100 * time.Millisecond
	claimDeadline = 150 * time.Millisecond
)

// claimants try again every 100 ms, at most five times in all, and always fail with errRefused.
var claimants = []claimant{
	{"holdfast", holdfastWaits, true, true},
	{"failsafe-go", failsafeWaits, false, false},
	{"backoff", backoffWaits, false, true},
	{"retry-go", retrygoWaits, false, true},
}

type claimant struct {
	library        string
	run            func(ctx context.Context) error
	stopsAtOnce    bool // when the next delay would pass the deadline
	keepsLastError bool // when the context's end stops it
}

func (c claimant) check(t *testing.T, err, end error) {
	t.Helper()
	if !errors.Is(err, end) {
		t.Errorf("%v is not found in: %v", end, err)
	}
	if keeps := errors.Is(err, errRefused); keeps != c.keepsLastError {
		t.Errorf("keeps the last error %v, want %v: %v", keeps, c.keepsLastError, err)
	}
}

func holdfastWaits(ctx context.Context) error {
	engine, err := retry.New(retry.Options{
		Strategy: retry.Limited(5, retry.BestEffort(retry.BackoffOptions{Min: claimDelay, Max: claimDelay})),
	})
	if err != nil {
		return err
	}
	return engine.Do(ctx, retry.Operation{}, func(context.Context, int) retry.Failure {
		return retry.Failure{Err: errRefused, Stage: retry.StageBeforeSending, Reason: retry.ReasonConnectionFailed}
	})
}

func failsafeWaits(ctx context.Context) error {
	policy := retrypolicy.NewBuilder[any]().WithDelay(claimDelay).WithMaxAttempts(5).Build()
	return failsafe.With(policy).WithContext(ctx).Run(func() error { return errRefused })
}

func backoffWaits(ctx context.Context) error {
	_, err := backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, errRefused },
		backoff.WithBackOff(backoff.NewConstantBackOff(claimDelay)), backoff.WithMaxTries(5))
	return err
}

func retrygoWaits(ctx context.Context) error {
	return retrygo.New(retrygo.Context(ctx), retrygo.Attempts(5), retrygo.Delay(claimDelay),
		retrygo.DelayType(retrygo.FixedDelay)).Do(func() error { return errRefused })
}

// The test checks the rows of the comparison in retry/README.md about waiting and about errors.
func TestTheComparisonsClaims(t *testing.T) {
	for _, c := range claimants {
		t.Run(c.library+", the deadline", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(context.Background(), claimDeadline)
				defer cancel()
				start := time.Now()
				err := c.run(ctx)
				if stops := time.Since(start) == claimDelay; stops != c.stopsAtOnce {
					t.Errorf("it took %v: stops at once %v, want %v", time.Since(start), stops, c.stopsAtOnce)
				}
				c.check(t, err, context.DeadlineExceeded)
			})
		})
		t.Run(c.library+", cancelled", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				time.AfterFunc(claimDeadline, cancel)
				c.check(t, c.run(ctx), context.Canceled)
			})
		})
	}
}
