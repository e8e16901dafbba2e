package engine

import (
	"context"
	"testing"

	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/mongoreason"
)

// bare makes the calls and nothing else: where the first of two fails, two for each operation.
type bare struct{}

func (bare) run(s *service, n int) error {
	if s.fails == first {
		n *= attempts
	}
	var err error
	for range n {
		err = s.call()
	}
	return err
}

type holdfast struct{ engine *retry.Engine }

func newHoldfast(t *testing.T, budget *retry.BudgetOptions, breaker *retry.BreakerOptions) holdfast {
	t.Helper()
	options := retry.Options{Strategy: retry.RetryOnce(), Breaker: breaker}
	var err error
	if budget != nil {
		if options.Budget, err = retry.NewBudget(*budget); err != nil {
			t.Fatal(err)
		}
	}
	engine, err := retry.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return holdfast{engine}
}

// willingBudget has a token for every operation's retry.
func willingBudget() *retry.BudgetOptions { return &retry.BudgetOptions{Ratio: 1, Burst: 1e9} }

// willingBreaker opens only if nothing succeeds at all.
func willingBreaker() *retry.BreakerOptions {
	o := retry.DefaultBreakerOptions()
	o.Percent = 100
	return o
}

func (h holdfast) run(s *service, n int) error {
	ctx := context.Background()
	attempt := func(context.Context, int) retry.Failure {
		if err := s.call(); err != nil {
			return retry.Failure{Err: err, Stage: retry.StageBeforeSending, Reason: mongoreason.PoolCleared}
		}
		return retry.Failure{}
	}
	for range n {
		if err := h.engine.Do(ctx, retry.Operation{}, attempt); err != nil {
			return err
		}
	}
	return nil
}
