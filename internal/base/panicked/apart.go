package panicked

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// grace is how long Apart waits for code whose context has ended: most code returns then, and leaves no goroutine behind.
const grace = 100 * time.Millisecond

var errGoexit = errors.New("it has called runtime.Goexit")

// Apart calls the application's code on a goroutine of its own, so that it holds nobody up longer than its context. A panic and
// runtime.Goexit are errors. who names the code. Code that ignores the end of its context goes on in the background.
func Apart[T any](ctx context.Context, who string, code func(context.Context) (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	results := make(chan result, 1)
	go func() {
		r := result{err: fmt.Errorf("%s has no result: %w", who, errGoexit)}
		defer func() { results <- r }()
		defer Recovered(who, &r.err)
		r.value, r.err = code(ctx)
	}()
	select {
	case r := <-results:
		return r.value, r.err
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case r := <-results:
		return r.value, r.err
	case <-timer.C:
		var none T
		return none, fmt.Errorf("%s has not returned: %w", who, context.Cause(ctx))
	}
}
