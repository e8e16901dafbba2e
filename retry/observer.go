package retry

import "context"

// Observer is told what an engine does. It must be safe for concurrent use; the operation waits for it.
type Observer interface {
	Observe(ctx context.Context, e Event)
}

// EventKind is what an [Event] tells of.
type EventKind uint8

// The kinds of events, in the order in which an operation has them: each failed attempt is followed by its verdict, and
// every operation, also one that succeeds at once, by its end.
const (
	EventAttemptFailed EventKind = iota // Failure
	EventDecided                        // Failure, and what follows: Why and Delay
	EventEnded                          // Err; if that is not nil also the last Failure and Why
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

// Event is one step of an operation, as plain data.
type Event struct {
	Kind    EventKind
	Data    any // the operation's
	Attempt int // the number of the latest attempt, 0 being the first
	Record      // what failed, and the verdict
	Err     error
}
