package mongo

import (
	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/retry"
)

// words returns the attempts in parentheses if cause is a history that has something to tell.
func words(cause error) string {
	if history, ok := cause.(*retry.Error); ok { //nolint:errorlint // another cause has a text of its own
		return operation.Words(history)
	}
	return ""
}

// withHistory returns the error of an operation with its history inside, so that its type does not depend on the number of attempts.
// An error of another type keeps the history beside it only if that tells something.
func withHistory(err error) error {
	with, ok := err.(*operation.WithHistory) //nolint:errorlint // the operation's own error
	if !ok {
		return err
	}
	switch e := with.Err.(type) { //nolint:errorlint // it is not wrapped here
	case WriteException:
		e.cause = with.History
		return e
	case BulkWriteException:
		e.cause = with.History
		return e
	case ClientBulkWriteException:
		e.cause = with.History
		return e
	}
	if operation.Tells(with.History) {
		return with
	}
	return with.Err
}
