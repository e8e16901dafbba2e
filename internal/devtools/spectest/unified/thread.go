package unified

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// patience is how long events and threads are waited for: more than the ten seconds of a heartbeat.
const patience = 11 * time.Second

// thread performs operations beside the case.
type thread struct {
	operations chan bson.Raw
	once       sync.Once
	done       chan struct{}
	err        error // of all operations; read it after done
}

func newThread(ctx context.Context, c *run) *thread {
	t := &thread{operations: make(chan bson.Raw, 100), done: make(chan struct{})}
	go func() {
		defer close(t.done)
		for doc := range t.operations {
			_, failure := c.perform(ctx, doc)
			t.err = errors.Join(t.err, failure)
		}
	}()
	return t
}

func (t *thread) stop() {
	t.once.Do(func() { close(t.operations) })
}

func runOnThread(_ context.Context, _ *run, a *arguments) (any, error) {
	t, doc := taken[*thread](a, "thread"), a.document("operation")
	if err := a.rest(nil); err != nil {
		return nil, err
	}
	select {
	case t.operations <- doc:
		return nil, nil
	default:
		return nil, refuse("the thread has too many operations")
	}
}

func waitForThread(ctx context.Context, _ *run, a *arguments) (any, error) {
	t := taken[*thread](a, "thread")
	if err := a.rest(nil); err != nil {
		return nil, err
	}
	t.stop()
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("the thread did not end within %v", patience))
	defer cancel()
	select {
	case <-t.done:
		return nil, t.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
