package mongo

import official "go.mongodb.org/mongo-driver/v2/mongo"

// ClientBulkWriteException is the error of Client.BulkWrite. Some of the writes may have been made. errors.As finds in it the official
// driver's ClientBulkWriteException too, the error of a command that failed as a whole, and the [*retry.Error] of that command or
// else of the first one that had errors. Like the official one it is no ServerError and has no labels of its own.
type ClientBulkWriteException struct {
	// WriteError is the error of a command that failed as a whole, or nil.
	WriteError *WriteError
	// WriteConcernErrors are the errors of the write concern, at most one for each command.
	WriteConcernErrors []WriteConcernError
	// WriteErrors are the errors of the models, by their index. If the writes are ordered, there is at most one.
	WriteErrors map[int]WriteError
	// PartialResult has the writes that were made, nil if there is none.
	PartialResult *ClientBulkWriteResult

	cause error // the error of a command that failed as a whole, or the history; nil within one
}

func (e ClientBulkWriteException) official() official.ClientBulkWriteException {
	return official.ClientBulkWriteException{
		WriteError: e.WriteError, WriteConcernErrors: e.WriteConcernErrors, WriteErrors: e.WriteErrors, PartialResult: e.PartialResult,
	}
}

// Error returns the text of the errors and, after several attempts, of all attempts.
func (e ClientBulkWriteException) Error() string { return e.official().Error() + words(e.cause) }

// ErrorCodes returns the codes of the errors.
func (e ClientBulkWriteException) ErrorCodes() []int { return e.official().ErrorCodes() }

// Unwrap returns the error of the command that failed as a whole, or the history.
func (e ClientBulkWriteException) Unwrap() error { return e.cause }

// As sets target if it is one to the official driver's ClientBulkWriteException.
func (e ClientBulkWriteException) As(target any) bool {
	t, ok := target.(*official.ClientBulkWriteException)
	if ok {
		*t = e.official()
	}
	return ok
}
