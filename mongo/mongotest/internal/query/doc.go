// Package query is MongoDB's language of documents as far as the test server speaks it: the order of values, filters,
// updates, projections and sorts, all over BSON bytes. It is pure: no sockets, no clock, no state. What it does not know it
// refuses by name, with the real server's code where it has one. Aggregation expressions and the stages of updates are the
// language of another package, which plugs in by Hooks.
//
// Everything compiled here (Filter, Update, Projection, Sort) is immutable and safe for concurrent use.
package query

import "fmt"

// Error is a refusal with the real server's code.
type Error struct {
	Code    int32
	Message string
	// Constant says that evaluating a constant part of an expression failed. The real server does that after it has read all.
	Constant bool
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

func fail(code int32, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// The codes that this package uses, by the real server's names.
const (
	BadValue                   int32 = 2
	FailedToParse              int32 = 9
	TypeMismatch               int32 = 14
	PathNotViable              int32 = 28
	ConflictingUpdateOperators int32 = 40
	DollarPrefixedFieldName    int32 = 52
	invalidIDField             int32 = 53
	EmptyFieldName             int32 = 56
	ImmutableField             int32 = 66
	NotImplemented             int32 = 238
	overflow                   int32 = 15
	notSingleValueField        int32 = 54
	invalidDBRef               int32 = 55
	notExactValueField         int32 = 111
	queryFeatureNotAllowed     int32 = 224
	cannotBackfillArray        int32 = 34
	BSONObjectTooLarge         int32 = 10334
	InvalidRegex               int32 = 51091
)

// unsupported refuses something that the real server has and this one has not.
func unsupported(what, name string) *Error {
	return fail(NotImplemented, "mongotest: %s %s is not supported", what, name)
}
