package mongotest

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// CommandError is an error reply. A [Fault] may ask for one; Name is filled in from the code if it is empty.
type CommandError struct {
	Code    int32
	Name    string
	Message string
	// Labels are the reply's errorLabels. Where it is nil the server decides as a real one of version 4.4 or later does.
	Labels []string

	extra []byte // further elements of the reply, encoded
}

// Error returns the name, the code and the message.
func (e *CommandError) Error() string {
	return fmt.Sprintf("(%s %d) %s", e.name(), e.Code, e.Message)
}

func (e *CommandError) name() string {
	if e.Name != "" {
		return e.Name
	}
	return codeName(e.Code)
}

func codeName(code Code) string {
	if name, ok := codeNames[code]; ok {
		return name
	}
	return "Location" + strconv.Itoa(int(code))
}

func failf(code Code, format string, args ...any) *CommandError {
	return &CommandError{Code: code, Message: fmt.Sprintf(format, args...)}
}

// commandError makes an error reply of any error.
func commandError(err error) *CommandError {
	var command *CommandError
	var refused *query.Error
	switch {
	case errors.As(err, &command):
		return command
	case errors.As(err, &refused):
		return &CommandError{Code: refused.Code, Message: refused.Message}
	}
	return &CommandError{Code: 22, Name: "InvalidBSON", Message: err.Error()}
}

// errHangUp ends the connection without a reply: its member was killed, or the connection closed, meanwhile.
var errHangUp = errors.New("mongotest: the connection is gone")
