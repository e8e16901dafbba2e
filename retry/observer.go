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
	AttemptFailed EventKind = iota // Failure
	Decided                        // Failure, and what follows: Why and Delay
	Ended                          // Err; if that is not nil also the last Failure and Why
)

// String returns the kind in words.
func (k EventKind) String() string {
	switch k {
	case AttemptFailed:
		return "attempt failed"
	case Decided:
		return "decided"
	case Ended:
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
