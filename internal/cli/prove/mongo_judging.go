package prove

import (
	"context"
	"errors"
	"slices"

	official "go.mongodb.org/mongo-driver/v2/mongo"
)

// stateChanges are the codes of state change errors: not primary, shutting down, recovering.
var stateChanges = []int{10107, 13435, 11600, 11602, 13436, 189, 91}

// KindOf classifies an error of the official driver's types, for any driver that returns them.
func KindOf(err error) ErrorKind {
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

// answered reports whether the error is one that a server has answered. A network error of the official types has the code 0.
func answered(err error) bool {
	return slices.ContainsFunc(official.ErrorCodes(err), func(code int) bool { return code != 0 })
}

// ClaimOf returns the effect of an operation according to an error of the official driver's types. After a network
// error, the end of the context or a write concern error it is Unknown, after any other error of a server NotApplied.
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
