package once

import (
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// ErrNotExactlyOnce is matched by the error of a write that this package cannot apply exactly once. Nothing was sent.
var ErrNotExactlyOnce = errors.New("once: this cannot be applied exactly once")

// State says what is known of a write that returned an error.
type State uint8

const (
	// Unknown means that the write may have been applied, or may be pending.
	Unknown State = iota
	// NotApplied means that the write was not applied, and will not be.
	NotApplied
	// Pending means that the document has the token. A sweep, or a call of [Collection.UpdateOneAs] with the same id, applies the update.
	Pending
)

// String returns the name of the state in words.
func (s State) String() string {
	switch s {
	case Unknown:
		return "it is not known whether it is applied or pending"
	case NotApplied:
		return "not applied"
	case Pending:
		return "pending"
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// Error is the error of a write that was sent. It wraps the client's error.
type Error struct {
	Operation string        // the method, for example "UpdateOne"
	ID        bson.ObjectID // of the token; zero if the write has none
	State     State
	Err       error
}

// Error returns the method, the state, the token's id and the cause.
func (e *Error) Error() string {
	if e.ID.IsZero() {
		return fmt.Sprintf("once: %s: %v: %v", e.Operation, e.State, e.Err)
	}
	return fmt.Sprintf("once: %s with token %s: %v: %v", e.Operation, e.ID.Hex(), e.State, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
