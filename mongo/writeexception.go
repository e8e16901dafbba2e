package mongo

import (
	"go.mongodb.org/mongo-driver/v2/bson"
	official "go.mongodb.org/mongo-driver/v2/mongo"
)

// WriteException is the error of a write with one statement. errors.As finds in it the official driver's WriteException too, and
// the [*retry.Error] with the attempts of the operation.
type WriteException struct {
	// WriteConcernError is the error of the write concern, or nil. The write itself may have been applied.
	WriteConcernError *WriteConcernError
	// WriteErrors are the errors of the statement.
	WriteErrors WriteErrors
	// Labels are the error labels of the reply and of its write concern error.
	Labels []string
	// Raw is the server's reply.
	Raw bson.Raw

	sealed       //nolint:unused // it makes the type a ServerError
	cause  error // the history; nil within one
}

// sealed is an interface with a method that is not exported, which only the official package can implement. A type that embeds it
// implements it too; the embedded value is nil, and each exported method is the type's own.
type sealed = official.ServerError //nolint:unused // it is embedded

var _ ServerError = WriteException{}

func (e WriteException) official() official.WriteException {
	return official.WriteException{WriteConcernError: e.WriteConcernError, WriteErrors: e.WriteErrors, Labels: e.Labels, Raw: e.Raw}
}

// Error returns the text of the errors and, after several attempts, of all attempts.
func (e WriteException) Error() string { return e.official().Error() + words(e.cause) }

// HasErrorCode reports whether one of the errors has the code.
func (e WriteException) HasErrorCode(code int) bool { return e.official().HasErrorCode(code) }

// ErrorCodes returns the codes of the errors.
func (e WriteException) ErrorCodes() []int { return e.official().ErrorCodes() }

// HasErrorLabel reports whether the error has the label.
func (e WriteException) HasErrorLabel(label string) bool { return e.official().HasErrorLabel(label) }

// HasErrorMessage reports whether one of the errors has a message that contains the text.
func (e WriteException) HasErrorMessage(message string) bool {
	return e.official().HasErrorMessage(message)
}

// HasErrorCodeWithMessage reports whether one of the errors has the code, and a message that contains the text.
func (e WriteException) HasErrorCodeWithMessage(code int, message string) bool {
	return e.official().HasErrorCodeWithMessage(code, message)
}

// Unwrap returns the history of the operation, so that errors.Is and errors.As find the causes of its attempts.
func (e WriteException) Unwrap() error { return e.cause }

// As sets target if it is one to the official driver's WriteException.
func (e WriteException) As(target any) bool {
	t, ok := target.(*official.WriteException)
	if ok {
		*t = e.official()
	}
	return ok
}
