package mongotest

import (
	"fmt"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// Code is a MongoDB error code.
type Code = int32

// CommandError is an error reply. A [Fault] may ask for one; Name is filled in from the code if it is empty.
type CommandError struct {
	Code    int32
	Name    string
	Message string
	// Labels are the reply's errorLabels. Where it is nil the server decides as a real one of version 4.4 or later does.
	Labels []string
}

// Error returns the name, the code and the message.
func (e *CommandError) Error() string {
	return fmt.Sprintf("(%s %d) %s", e.name(), e.Code, e.Message)
}

func (e *CommandError) name() string {
	if e.Name != "" {
		return e.Name
	}
	return mongoerr.Name(e.Code)
}

// answered is the error as the server answers it.
func (e *CommandError) answered() *mongoerr.Error {
	return &mongoerr.Error{Code: e.Code, Name: e.Name, Message: e.Message, Labels: e.Labels}
}
