package retry_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast-db/holdfast/retry"
)

// An error keeps the first four and the last four attempts, and counts the others by reason and endpoint.
func ExampleError() {
	engine, err := retry.New(retry.Options{Strategy: retry.Limited(100, retry.UntilDeadline())})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = engine.Do(context.Background(), retry.Operation{}, func(ctx context.Context, n int) retry.Failure {
		failure := refused(ctx, n)
		failure.Endpoint = fmt.Sprintf("store-%d:1", n%2)
		return failure
	})
	var failed *retry.Error
	if !errors.As(err, &failed) {
		return
	}
	fmt.Println(failed.Total, "attempts,", len(failed.Attempts), "kept")
	for _, omitted := range failed.Omitted {
		fmt.Println(omitted.Count, omitted.Reason, omitted.Endpoint)
	}
	last := failed.Last()
	fmt.Println("last:", last.Endpoint, last.Stage, last.StopReason)
	fmt.Println(errors.Is(err, errRefused), failed.MayHaveApplied())
	// Output:
	// 100 attempts, 8 kept
	// 46 CONNECTION_FAILED store-0:1
	// 46 CONNECTION_FAILED store-1:1
	// last: store-1:1 before sending attempts used up
	// true false
}
