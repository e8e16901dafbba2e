// Package retold puts what the retry engine tells into the words of package telemetry, for the clients.
package retold

import (
	"context"

	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/telemetry"
)

// Decision returns what an event of the engine says about the end of an attempt that failed, or nil for an event that says nothing new.
func Decision(e *retry.Event) *telemetry.Decision {
	again := e.Kind == retry.EventDecided && e.StopReason == retry.NotStopped
	ended := e.Kind == retry.EventEnded && e.Err != nil
	if !again && !ended {
		return nil
	}
	d := &telemetry.Decision{
		Attempt: e.Attempt, Address: e.Endpoint, Stage: e.Stage.String(), Reason: e.Reason.String(), Delay: e.Delay, Err: e.Err,
	}
	if again {
		d.Err = e.Failure.Err
	} else {
		d.StopReason = e.StopReason.String()
	}
	return d
}

// Both returns an observer that tells two others, nil if both are.
func Both(a, b retry.Observer) retry.Observer {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return both{a, b}
}

type both [2]retry.Observer

// Observe implements [retry.Observer].
func (o both) Observe(ctx context.Context, e retry.Event) {
	defer o[1].Observe(ctx, e) // also if the first one panics
	o[0].Observe(ctx, e)
}
