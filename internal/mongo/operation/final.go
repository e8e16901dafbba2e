package operation

import (
	"errors"
	"strings"

	official "go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/drivererror"
	"github.com/holdfast-db/holdfast/retry"
)

// final returns the error for the application: that of one attempt, with the history of the attempts. Its type does not depend on
// the number of attempts.
func (r *run) final(err error) error {
	var history *retry.Error
	if !errors.As(err, &history) {
		return err
	}
	chosen := r.chosen
	switch {
	case chosen != nil:
	case history.Total > 0:
		chosen = history.Attempts[0].Err
	default:
		chosen = history.Last().Err
	}
	told := Tells(history)
	if told {
		r.logRefusal(history)
	}
	if e, ok := chosen.(official.CommandError); ok { //nolint:errorlint // it is not wrapped here
		return drivererror.Wrap(&e, &Cause{of: e, history: history})
	}
	with := WithHistory{Err: chosen, History: history}
	if _, ok := chosen.(*cluster.SelectionError); ok { //nolint:errorlint // it is not wrapped here
		return NoServer{WithHistory: with}
	}
	if chosen == official.ErrClientDisconnected && !told { //nolint:errorlint // programs compare it by ==
		return chosen
	}
	return &with
}

// Tells reports whether the text of an error has its history. After a single attempt most reasons for not retrying are not worth it.
func Tells(history *retry.Error) bool {
	if history.Total != 1 {
		return history.Total > 1
	}
	return !needsNoWords(history.StopReason()) || errors.Is(history.Last().Err, cluster.ErrDisconnected)
}

func needsNoWords(stop retry.StopReason) bool {
	switch stop {
	case retry.StopNotRetryable, retry.StopNoServer, retry.StopNotBuilt, retry.StopDisabled, retry.StopNone, retry.NotStopped:
		return true
	case retry.StopNotIdempotent, retry.StopStrategyDeclined, retry.StopAttemptsUsed, retry.StopDeadlineWouldPass,
		retry.StopBudgetEmpty, retry.StopBreakerOpen, retry.StopUnsupportedServer, retry.StopInTransaction, retry.StopCancelled,
		retry.StopRetryAfterTooLong, retry.StopNotReplayable:
	}
	return false
}

// WithHistory adds the history to an error of a type that has no field for it.
type WithHistory struct {
	Err     error
	History *retry.Error
}

// Error returns the text of the error and, if there is something to tell, of all attempts.
func (e WithHistory) Error() string { return e.Err.Error() + Words(e.History) }

// Words returns the history in parentheses, or nothing if there is nothing to tell.
func Words(history *retry.Error) string {
	if !Tells(history) {
		return ""
	}
	return " (" + history.History() + ")"
}

// Unwrap returns the error and its history, for errors.As.
func (e WithHistory) Unwrap() []error { return []error{e.Err, e.History} }

// NoServer is the error of an operation for which no server could be selected. Like the official driver's error it is a value that
// cannot be compared.
type NoServer struct {
	WithHistory
	_ [0]func()
}

// Cause is what the CommandError of an operation wraps: the cause in the attempt that was chosen, and the history.
type Cause struct {
	of      official.CommandError // the error in that attempt; what it wraps is nil for an error reply
	history *retry.Error
}

// Error returns the whole text of the CommandError: that of the attempt or, if there is something to tell, that of all attempts.
func (c *Cause) Error() string {
	if !Tells(c.history) {
		return strings.TrimPrefix(c.of.Error(), " ") // of a reply without a codeName it begins with a space
	}
	text := c.of.Message
	if c.of.Name != "" {
		text = "(" + c.of.Name + ") " + text
	}
	return text + ": " + c.history.History()
}

// Unwrap returns the cause, if there is one, and the history.
func (c *Cause) Unwrap() []error {
	if c.of.Wrapped == nil {
		return []error{c.history}
	}
	return []error{c.of.Wrapped, c.history}
}

// As finds the driver.Error that a CommandError of the official driver wraps.
func (c *Cause) As(target any) bool { return drivererror.AsError(target, &c.of) }
