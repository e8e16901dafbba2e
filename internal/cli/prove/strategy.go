package prove

import "context"

// Strategy is a retry strategy: a client that retries or does not, and perhaps a loop of an application around it.
type Strategy struct {
	Name  string
	Title string
	// RetryWrites is the client's option retryWrites.
	RetryWrites bool
	// twoSteps means that an operation has two commands.
	twoSteps bool
	// durable means that Couchbase is asked for majority durability.
	durable bool
	// failFast means that Couchbase's client retries only after the reasons for which it always does.
	failFast bool
	do       func(context.Context, *doing) error
	// sweep, if not nil, applies the operations that have only their first step. It runs after the load of each cell.
	sweep func(context.Context, Client) error
}

// learns reports whether the strategy can know, after a transient fault, whether the operation was applied: it can repeat
// the operation until the server answers.
func (s Strategy) learns() bool { return s.RetryWrites || s.twoSteps }

// stepName returns the name of a step in texts.
func (s Strategy) stepName(step Step) string {
	switch {
	case s.twoSteps && step == FirstStep:
		return "first step"
	case s.twoSteps:
		return "second step"
	case step == FirstStep:
		return "update"
	}
	return "read" // of Couchbase's CAS loop
}

// applies reports whether a step applies an operation, now or later: a sweep applies those that have only their first step. The second
// step of Couchbase's CAS loop only reads.
func (s Strategy) applies(step Step) bool { return step == FirstStep || s.twoSteps }
