package mongo_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/holdfast-db/holdfast/mongotest"
)

// A request for events that panics has perhaps lost a batch, as one that fails has. The next call resumes, so that each event is
// returned once. Its error is not that of the call before.
func TestAStreamLosesNoEventWhenTheApplicationsCodePanics(t *testing.T) {
	for deployment, run := range map[string]func() (*mongotest.Deployment, error){"a replica set": one, "load balanced": behindALoadBalancer} {
		for _, place := range []string{"CommandStarted", "Write", "Read", "CommandSucceeded"} {
			t.Run(deployment+", "+place, func(t *testing.T) {
				c := panicCase{run: run, do: func(v *victim, ctx context.Context) error { return v.watchWithPanic(ctx, place) }}
				c.survive(t)
			})
		}
	}
}

// watchWithPanic reads two events with a change stream whose first request for events panics at a place.
func (v *victim) watchWithPanic(ctx context.Context, place string) error {
	stream, err := v.coll.Watch(ctx, []any{})
	if err != nil {
		return err
	}
	defer stream.Close(ctx)
	if err := v.set.Insert("test.c", doc("_id", 1), doc("_id", 2)); err != nil {
		return err
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if stream.Next(ended) || !errors.Is(stream.Err(), context.Canceled) {
		return fmt.Errorf("with a context that has ended: %w", stream.Err())
	}
	if !v.trap.set(place, func() { stream.Next(ctx) }) {
		return errors.New("nothing has panicked")
	}
	for id := range int64(2) {
		if !stream.Next(ctx) || stream.Err() != nil || stream.Current.Lookup("documentKey", "_id").AsInt64() != id+1 {
			return fmt.Errorf("event %d is %v: %w", id+1, stream.Current, stream.Err())
		}
	}
	if stream.TryNext(ctx) {
		return fmt.Errorf("an event more: %v", stream.Current)
	}
	return stream.Err()
}
