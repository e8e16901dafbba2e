package retry

import (
	"context"
	"time"
)

// Observer receives the events of an engine. It must be safe for concurrent use. The operation waits for it.
type Observer interface {
	Observe(ctx context.Context, e Event)
}

// FailureObserver is an [Observer] that is told of failures only. It gets no event of a success, and in the others Elapsed is 0. So it costs an
// operation nothing that succeeds at once.
type FailureObserver interface {
	Observer
	// OnlyFailures does nothing. That an observer has it is what counts.
	OnlyFailures()
}

// EventKind is the kind of an [Event].
type EventKind uint8

// The kinds of events, in the order in which an operation has them. Each failed attempt has the first two. Every operation has
// the last, also one that succeeds at once.
const (
	EventAttemptFailed EventKind = iota // an attempt failed: Failure is set
	EventDecided                        // the engine decided what follows: Failure, StopReason and Delay are set
	EventEnded                          // the operation ended: Err is set, and if it is not nil also the last Failure, StopReason and Delay
)

// String returns the kind in words.
func (k EventKind) String() string {
	switch k {
	case EventAttemptFailed:
		return "attempt failed"
	case EventDecided:
		return "decided"
	case EventEnded:
		return "ended"
	}
	return "unknown kind"
}

// Event is one step of an operation.
type Event struct {
	Kind    EventKind
	Name    string        // the operation's
	Data    any           // the operation's
	Attempt int           // the number of the latest attempt; the first is 0
	Elapsed time.Duration // since the operation began; 0 for a [FailureObserver]
	Record                // the failure and the decision about it; after a success the Endpoint alone
	Err     error
}
