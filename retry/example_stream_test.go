package retry_test

import (
	"context"
	"fmt"
	"io"

	"github.com/holdfast-db/holdfast/retry"
)

// A stream of messages breaks again and again. Each attempt continues after the last message. After an attempt that delivered
// messages the engine counts from zero again. It gives up after two attempts in a row that delivered none.
func ExampleFailure_progress() {
	engine, err := retry.New(retry.Options{Strategy: retry.Limited(3, retry.BestEffort(retry.BackoffOptions{}))})
	if err != nil {
		fmt.Println(err)
		return
	}
	last := 0
	err = engine.Do(context.Background(), retry.Operation{Idempotency: retry.ReadOnly}, func(_ context.Context, n int) retry.Failure {
		before := last
		if n < 5 {
			last += 10 // the messages of this attempt
		}
		return retry.Failure{Err: io.ErrUnexpectedEOF, Reason: retry.ReasonNetworkError, Progress: last > before}
	})
	failed := err.(*retry.Error) //nolint:errorlint // Do returns it as it is
	fmt.Println(last, "messages,", failed.Total, "attempts:", failed.StopReason())
	// Output: 50 messages, 7 attempts: attempts used up
}
