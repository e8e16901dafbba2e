package prove

import (
	"context"
	"errors"
	"slices"

	official "go.mongodb.org/mongo-driver/v2/mongo"
)

// stateChanges are the codes of a member that is not, or no longer, the primary, or is shutting down or recovering.
var stateChanges = []int{10107, 13435, 11600, 11602, 13436, 189, 91}

// KindOf classifies an error by what the official driver's types tell any application. Any driver that returns those
// types can use it.
func KindOf(err error) Kind {
	var labeled official.LabeledError
	has := func(label string) bool { return errors.As(err, &labeled) && labeled.HasErrorLabel(label) }
	switch {
	case has("SystemOverloadedError") && has("RetryableError"):
		return Overload
	case official.IsNetworkError(err):
		return Network
	case errors.Is(err, context.Canceled):
		return Interrupted
	}
	for _, code := range official.ErrorCodes(err) {
		if slices.Contains(stateChanges, code) {
			return Network
		}
	}
	return Refused
}

// ClaimOf is what an official error says about the operation's effect: a network error, the end of the context and a
// write concern error leave it open; any other answer of a server means that it was not applied.
func ClaimOf(err error) Claim {
	var exception official.WriteException
	switch {
	case errors.As(err, &exception) && exception.WriteConcernError != nil:
		return Unknown
	case official.IsNetworkError(err), official.IsTimeout(err):
		return Unknown
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return Unknown
	}
	return NotApplied
}
