package retry_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-db/holdfast/retry"
)

var errRefused = errors.New("connection refused")

func refused(context.Context, int) retry.Failure {
	return retry.Failure{Err: errRefused, Stage: retry.StageBeforeSending, Reason: retry.ReasonConnectionFailed}
}

// Two engines, for example of the clients of two services on one machine, make at most so many retries together.
func ExampleBudget() {
	budget, err := retry.NewBudget(retry.BudgetOptions{Burst: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, service := range []string{"orders", "orders", "stock", "stock"} {
		engine, err := retry.New(retry.Options{Strategy: retry.RetryOnce(), Budget: budget})
		if err != nil {
			fmt.Println(err)
			return
		}
		err = engine.Do(context.Background(), retry.Operation{Name: service}, refused)
		fmt.Println(err.(*retry.Error).StopReason(), budget.Tokens()) //nolint:errorlint // Do returns it as it is
	}
	// Output:
	// attempts used up 2
	// attempts used up 1
	// attempts used up 0
	// budget empty 0
}

// An attempt that chooses its endpoint itself asks the endpoint's breaker.
func ExampleEngine_Breaker() {
	engine, err := retry.New(retry.Options{
		Strategy:        retry.Limited(3, retry.UntilDeadline()),
		EndpointBreaker: &retry.BreakerOptions{Volume: 1, Percent: 50, Window: time.Minute, OpenTimeout: time.Second},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	endpoints := []string{"a:1", "a:1", "b:2"}
	err = engine.Do(context.Background(), retry.Operation{}, func(ctx context.Context, n int) retry.Failure {
		breaker := engine.Breaker(endpoints[n])
		permit, ok := breaker.Allow()
		if !ok {
			fmt.Println(endpoints[n], breaker.State())
			return retry.Failure{Err: retry.ErrBreakerOpen, Stage: retry.StageBeforeSending, Reason: retry.ReasonCircuitBreakerOpen}
		}
		var failure retry.Failure
		if endpoints[n] == "a:1" {
			failure = refused(ctx, n)
		}
		fmt.Println(endpoints[n], failure.Err)
		breaker.Done(permit, breaker.Judge(ctx, failure))
		return failure
	})
	fmt.Println(err)
	// Output:
	// a:1 connection refused
	// a:1 open
	// b:2 <nil>
	// <nil>
}

// The first attempt gets no answer. Its time limit ends it, and the second one succeeds.
func ExampleOptions_attemptTimeout() {
	engine, err := retry.New(retry.Options{Strategy: retry.RetryOnce(), AttemptTimeout: 10 * time.Millisecond})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = engine.Do(context.Background(), retry.Operation{Idempotency: retry.ReadOnly}, func(ctx context.Context, n int) retry.Failure {
		if n > 0 {
			return retry.Failure{}
		}
		<-ctx.Done()
		fmt.Println(context.Cause(ctx))
		return retry.Failure{Err: context.Cause(ctx)}
	})
	fmt.Println(err)
	// Output:
	// retry: the attempt reached its time limit
	// <nil>
}
