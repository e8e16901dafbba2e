package retry_test

import (
	"context"
	"fmt"
	"sync"

	"github.com/holdfast-db/holdfast/retry"
)

// retryCounts counts the retries by the operation's name and the reason, for example for a page of metrics.
type retryCounts struct {
	mu     sync.Mutex
	counts map[string]int
}

func (c *retryCounts) Observe(_ context.Context, e retry.Event) {
	if e.Kind != retry.EventDecided || e.StopReason != retry.NotStopped {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts[e.Name+" "+e.Reason.String()]++
}

// An observer counts the retries of all operations of an engine.
func ExampleObserver() {
	counts := &retryCounts{counts: map[string]int{}}
	engine, err := retry.New(retry.Options{Strategy: retry.Limited(3, retry.UntilDeadline()), Observer: counts})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"orders.insert", "orders.insert", "stock.find"} {
		err = engine.Do(context.Background(), retry.Operation{Name: name}, refused)
	}
	fmt.Println(err != nil, counts.counts)
	// Output: true map[orders.insert CONNECTION_FAILED:4 stock.find CONNECTION_FAILED:2]
}

// printer prints the events.
type printer struct{}

func (printer) Observe(_ context.Context, e retry.Event) {
	switch e.Kind {
	case retry.EventAttemptFailed:
		fmt.Println(e.Kind, e.Attempt, e.Failure.Err)
	case retry.EventDecided:
		fmt.Println(e.Kind, e.Attempt, e.StopReason, e.Delay)
	case retry.EventEnded:
		fmt.Println(e.Kind, e.Attempt, e.Err)
	}
}

// The events of an operation whose first attempt fails.
func ExampleEvent() {
	engine, err := retry.New(retry.Options{Strategy: retry.RetryOnce(), Observer: printer{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = engine.Do(context.Background(), retry.Operation{}, func(ctx context.Context, n int) retry.Failure {
		if n == 0 {
			return refused(ctx, n)
		}
		return retry.Failure{}
	})
	fmt.Println(err)
	// Output:
	// attempt failed 0 connection refused
	// decided 0 retried 0s
	// ended 1 <nil>
	// <nil>
}

// failurePrinter prints what follows a failure.
type failurePrinter struct{ printer }

func (failurePrinter) OnlyFailures() {}

// An operation that succeeds at once costs nothing, as it has no events.
func ExampleFailureObserver() {
	var observer retry.FailureObserver = failurePrinter{}
	engine, err := retry.New(retry.Options{Strategy: retry.RetryOnce(), Observer: observer})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, failing := range []int{0, 1} {
		err = engine.Do(context.Background(), retry.Operation{}, func(ctx context.Context, n int) retry.Failure {
			if n < failing {
				return refused(ctx, n)
			}
			return retry.Failure{}
		})
		fmt.Println(err)
	}
	// Output:
	// <nil>
	// attempt failed 0 connection refused
	// decided 0 retried 0s
	// <nil>
}
