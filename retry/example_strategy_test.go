package retry_test

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-db/holdfast/retry"
)

// calm is a strategy: three retries, each after a longer delay, and none any more once the server was overloaded.
func calm(_ context.Context, request retry.OperationState, failure retry.Failure) (retry.Action, error) {
	switch {
	case failure.Reason == retry.ReasonOverloaded || request.Reasons.Has(retry.ReasonOverloaded):
		return retry.Decline(retry.StopStrategyDeclined), nil
	case request.Retries >= 3:
		return retry.Decline(retry.StopAttemptsUsed), nil
	}
	return retry.After(time.Duration(request.Retries) * time.Millisecond), nil
}

// A function is a strategy. It sees the number of the retries, the reasons of the earlier failures, and the failure.
func ExampleStrategyFunc() {
	engine, err := retry.New(retry.Options{Strategy: retry.StrategyFunc(calm)})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = engine.Do(context.Background(), retry.Operation{}, refused)
	failed := err.(*retry.Error) //nolint:errorlint // Do returns it as it is
	for _, record := range failed.Attempts {
		fmt.Println(record.Reason, record.StopReason, record.Delay)
	}
	// Output:
	// CONNECTION_FAILED retried 0s
	// CONNECTION_FAILED retried 1ms
	// CONNECTION_FAILED retried 2ms
	// CONNECTION_FAILED attempts used up 0s
}

// A test of a strategy asks it without an engine.
func ExampleAction() {
	ctx := context.Background()
	for _, retries := range []int{1, 3} {
		action, err := calm(ctx, retry.OperationState{Retries: retries}, refused(ctx, retries))
		delay, again := action.Delay()
		fmt.Println(delay, again, err)
	}
	// Output:
	// 1ms true <nil>
	// 0s false <nil>
}
