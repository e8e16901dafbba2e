package retry_test

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-db/holdfast/retry"
)

// The delay of an hour would pass the deadline. By default the operation ends at once. With DeadlineCapDelay it waits until the
// deadline, because the endpoint may come back before: then a channel is closed, and the next attempt is made.
func ExampleDeadlineMode() {
	for _, mode := range []retry.DeadlineMode{retry.DeadlineGiveUp, retry.DeadlineCapDelay} {
		engine, err := retry.New(retry.Options{
			Strategy:     retry.BestEffort(retry.BackoffOptions{Min: time.Hour, Max: time.Hour}),
			DeadlineMode: mode,
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		back := make(chan struct{})
		err = engine.Do(ctx, retry.Operation{}, func(ctx context.Context, n int) retry.Failure {
			if n > 0 {
				return retry.Failure{}
			}
			close(back) // in a program, what connects in the background closes it
			failure := refused(ctx, n)
			failure.Wake = back
			return failure
		})
		cancel()
		fmt.Println(err)
	}
	// Output:
	// connection refused (1 attempt: [1, before sending, CONNECTION_FAILED: connection refused] no more: deadline would pass)
	// <nil>
}
