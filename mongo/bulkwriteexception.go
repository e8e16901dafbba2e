package mongo

import official "go.mongodb.org/mongo-driver/v2/mongo"

// BulkWriteException is the error of InsertMany or Collection.BulkWrite. Some of the writes may have been made. errors.As finds in it
// the official driver's BulkWriteException too, and the [*retry.Error] of the first command that was tried again and then had
// errors, or else of the first one that had errors.
type BulkWriteException struct {
	// WriteConcernError is the error of the write concern of the last command that had one, or nil.
	WriteConcernError *WriteConcernError
	// WriteErrors are the errors of the documents or models.
	WriteErrors []BulkWriteError
	// Labels are the error labels of all replies.
	Labels []string

	sealed       //nolint:unused // it makes the type a ServerError
	cause  error // the history; nil within one
}

var _ ServerError = BulkWriteException{}

func (e BulkWriteException) official() official.BulkWriteException {
	return official.BulkWriteException{WriteConcernError: e.WriteConcernError, WriteErrors: e.WriteErrors, Labels: e.Labels}
}

// Error returns the text of the errors and, after several attempts, of all attempts.
func (e BulkWriteException) Error() string { return e.official().Error() + words(e.cause) }

// HasErrorCode reports whether one of the errors has the code.
func (e BulkWriteException) HasErrorCode(code int) bool { return e.official().HasErrorCode(code) }

// ErrorCodes returns the codes of the errors.
func (e BulkWriteException) ErrorCodes() []int { return e.official().ErrorCodes() }

// HasErrorLabel reports whether the error has the label.
func (e BulkWriteException) HasErrorLabel(label string) bool {
	return e.official().HasErrorLabel(label)
}

// HasErrorMessage reports whether one of the errors has a message that contains the text.
func (e BulkWriteException) HasErrorMessage(message string) bool {
	return e.official().HasErrorMessage(message)
}

// HasErrorCodeWithMessage reports whether one of the errors has the code, and a message that contains the text.
func (e BulkWriteException) HasErrorCodeWithMessage(code int, message string) bool {
	return e.official().HasErrorCodeWithMessage(code, message)
}

// Unwrap returns the history of the operation, so that errors.Is and errors.As find the causes of its attempts.
func (e BulkWriteException) Unwrap() error { return e.cause }

// As sets target if it is one to the official driver's BulkWriteException.
func (e BulkWriteException) As(target any) bool {
	t, ok := target.(*official.BulkWriteException)
	if ok {
		*t = e.official()
	}
	return ok
}
