package once

import (
	"context"
	"errors"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/mongoreason"
)

// The codes with which a server says that it is not the primary, or is shutting down, stepping down or recovering. Source: the
// specification Server Discovery and Monitoring.
var (
	notPrimary = []int{10107, 13435, 10058}
	recovering = []int{11600, 11602, 13436, 189, 91}
)

// unanswered are the codes with which a mongos says that it got no reply from a member, which may have done the write: HostUnreachable,
// HostNotFound, NetworkTimeout, SocketException, ExceededTimeLimit.
var unanswered = []int{6, 7, 89, 9001, 262}

// errNoAnswer is the error of a write whose write concern is w: 0.
var errNoAnswer = errors.New("the write concern is unacknowledged, so nobody knows whether the write was applied")

// acknowledged returns the error of a write, also if the server does not answer.
func acknowledged(answered bool, err error) error {
	if err == nil && !answered {
		return errNoAnswer
	}
	return err
}

// failureOf describes an error of a client to the engine.
func failureOf(ctx context.Context, err error) retry.Failure {
	f := retry.Failure{Err: err, Stage: retry.StageAnswered}
	if isInTransaction(err) {
		f.Stop = retry.StopNotRetryable
	}
	switch {
	case err == nil:
		return retry.Failure{}
	case errors.Is(err, errNoAnswer):
		f.Stage = retry.StageInFlight
	case isPoolCleared(err):
		f.Stage, f.Reason = retry.StageBeforeSending, mongoreason.PoolCleared
	case isOverload(err):
		f.Reason = retry.ReasonOverloaded
	case isNoAnswer(err):
		f.Stage, f.Reason = retry.StageInFlight, retry.ReasonNetworkError
	case ctx.Err() != nil, mongo.IsTimeout(err):
		f.Stage = retry.StageInFlight
	case hasCode(err, notPrimary):
		f.Reason, f.Unsettled = mongoreason.NotWritablePrimary, isConcern(err)
	case hasCode(err, recovering):
		f.Reason, f.Unsettled = mongoreason.NodeRecovering, isConcern(err)
	case hasCode(err, unanswered):
		f.Unsettled = true // and not repeated: the mongos has waited for another member already
	}
	return f
}

// isNoAnswer reports whether a command may have been sent and was not answered. A timeout is no reason to send it again: its caller waits
// no longer.
func isNoAnswer(err error) bool {
	return mongo.IsNetworkError(err) && !mongo.IsTimeout(err)
}

// isPoolCleared reports whether nothing was sent, because the connections of the server were closed after the error of another command. The
// official driver's error of its pool has this method, and no label.
func isPoolCleared(err error) bool {
	var e interface{ Retryable() bool }
	return errors.As(err, &e) && e.Retryable()
}

// isInTransaction reports whether the caller's transaction has ended. The caller repeats the whole transaction.
func isInTransaction(err error) bool {
	var e mongo.ServerError
	return errors.As(err, &e) && e.HasErrorLabel("TransientTransactionError")
}

// isOverload reports whether an overloaded server has refused the command.
func isOverload(err error) bool {
	var e mongo.LabeledError
	return errors.As(err, &e) && e.HasErrorLabel("SystemOverloadedError") && e.HasErrorLabel("RetryableError")
}

func hasCode(err error, codes []int) bool {
	return slices.ContainsFunc(mongo.ErrorCodes(err), func(code int) bool { return slices.Contains(codes, code) })
}

// isConcern reports whether a write was applied, and its write concern was not met.
func isConcern(err error) bool {
	var e mongo.WriteException
	return errors.As(err, &e) && len(e.WriteErrors) == 0 && e.WriteConcernError != nil
}

// isRefused reports whether the server refused to change the document: another attempt would be refused too.
func isRefused(err error) bool {
	var e mongo.WriteException
	return errors.As(err, &e) && len(e.WriteErrors) > 0
}

// isDuplicateID reports whether a document with the _id is there. Servers before 4.4 name the index in the text only.
func isDuplicateID(err error) bool {
	var e mongo.WriteException
	if !errors.As(err, &e) || !mongo.IsDuplicateKeyError(err) {
		return false
	}
	return slices.ContainsFunc(e.WriteErrors, isOnID)
}

// isOnID reports whether a duplicate key is that of the index on _id.
func isOnID(e mongo.WriteError) bool {
	if pattern, ok := e.Raw.Lookup("keyPattern").DocumentOK(); ok {
		elements, err := pattern.Elements()
		return err == nil && len(elements) == 1 && elements[0].Key() == "_id"
	}
	return strings.Contains(e.Message, "index: _id_ ") || strings.Contains(e.Message, "$_id_ ")
}
