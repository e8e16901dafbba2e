package mongoerr

import (
	"errors"
	"fmt"
)

// Error is an error as a reply has it.
type Error struct {
	Code    Code
	Name    string // "" for the one that belongs to the code
	Message string
	Labels  []string // errorLabels; nil if the server decides
	Extra   []byte   // further elements of the reply, encoded
	// Constant says that evaluating a constant part of an expression failed. The real server does that after it has read all.
	Constant bool
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// CodeName returns the error's name.
func (e *Error) CodeName() string {
	if e.Name != "" {
		return e.Name
	}
	return Name(e.Code)
}

// Errorf returns an error with a code and a text, which it formats as package fmt does.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// From makes an error reply of any error: of one that is none, that the client's BSON was malformed.
func From(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: InvalidBSON, Message: err.Error()}
}

// CodeOf returns the code of the reply that an error becomes.
func CodeOf(err error) Code { return From(err).Code }

// Because puts a text before that of an error: what failed because of it.
func Because(failed string, err error) error {
	e := *From(err)
	e.Message = failed + " :: caused by :: " + e.Message
	return &e
}
