package storm

import (
	"context"
	"errors"
	"testing"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/budget"
	"github.com/failsafe-go/failsafe-go/retrypolicy"

	"github.com/holdfast-db/holdfast/retry"
)

var (
	errRejected = errors.New("the server is overloaded")
	errTimedOut = errors.New("no answer")
)

// attempt makes one attempt of an operation and returns nil, errRejected or errTimedOut.
type attempt func(context.Context) error

// do does one operation with as many attempts as it sees fit.
type do func(context.Context, attempt) error

// strategy is one way to retry. Each client has its own.
type strategy struct {
	name   string
	figure string // what the names of its figures begin with
	line   line   // in the plot
	client func(*testing.T) do
}

// strategies are the rows of the table.
var strategies = []strategy{
	none,
	unlimited,
	blind,
	failsafes,
	burst10,
	ours,
}

var (
	none      = strategy{"no retries", "none-", line{colour: "#777777", dashes: "2 3"}, func(*testing.T) do { return once }}
	unlimited = strategy{"best effort, no limits", "unlimited-", line{colour: "#cc79a7"}, engineOf(nil)}
	blind     = strategy{"blind retries: five, at once", "blind-", line{colour: "#d55e00"}, func(*testing.T) do { return blindly }}
	failsafes = strategy{"failsafe-go's defaults", "failsafe-", line{colour: "#e69f00"}, failsafeDefaults}
	burst10   = strategy{"ours, 10 %, 1/s, burst 10", "burst10-", line{colour: "#56b4e9"}, engine(retry.BudgetOptions{Ratio: 0.1, PerSecond: 1, Burst: 10})}
	ours      = strategy{"ours, default budget", "", line{colour: "#0072b2", width: 2.5}, engine(*retry.DefaultBudgetOptions())}
)

func once(ctx context.Context, attempt attempt) error { return attempt(ctx) }

// blindly is the loop that people write.
func blindly(ctx context.Context, attempt attempt) error {
	err := attempt(ctx)
	for n := 0; n < 5 && err != nil && ctx.Err() == nil; n++ {
		err = attempt(ctx)
	}
	return err
}

// failsafeDefaults makes two retries at once, within failsafe-go's own default budget.
func failsafeDefaults(*testing.T) do {
	policy := retrypolicy.NewBuilder[any]().WithBudget(budget.New()).Build()
	executor := failsafe.With(policy)
	return func(ctx context.Context, attempt attempt) error {
		return executor.WithContext(ctx).Run(func() error { return attempt(ctx) })
	}
}

// engine makes best effort within a budget.
func engine(budget retry.BudgetOptions) func(*testing.T) do { return engineOf(&budget) }

// engineOf makes an engine for each client, with a budget of its own if there is one.
func engineOf(budget *retry.BudgetOptions) func(*testing.T) do {
	return func(t *testing.T) do {
		options := retry.Options{Strategy: retry.BestEffort(retry.BackoffOptions{})}
		var err error
		if budget != nil {
			if options.Budget, err = retry.NewBudget(*budget); err != nil {
				t.Error(err)
				return once
			}
		}
		e, err := retry.New(options)
		if err != nil {
			t.Error(err)
			return once
		}
		return func(ctx context.Context, attempt attempt) error {
			return e.Do(ctx, retry.Operation{Idempotency: retry.Idempotent}, func(ctx context.Context, _ int) retry.Failure {
				return failure(attempt(ctx))
			})
		}
	}
}

func failure(err error) retry.Failure {
	switch {
	case err == nil:
		return retry.Failure{}
	case errors.Is(err, errRejected):
		return retry.Failure{Err: err, Stage: retry.StageAnswered, Reason: retry.ReasonServiceResponseCodeIndicated}
	default:
		return retry.Failure{Err: err, Stage: retry.StageInFlight, Reason: retry.ReasonNetworkError}
	}
}
