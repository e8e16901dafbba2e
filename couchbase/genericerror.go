package couchbase

import (
	"encoding/json"
)

// GenericError is an error with details that have no type of their own.
type GenericError struct {
	InnerError error          `json:"-"`
	Context    map[string]any `json:"context,omitempty"`
}

var _ error = GenericError{}

// plainGenericError is without methods, so that it is encoded by its tags.
type plainGenericError GenericError

// Error returns the text of the inner error and the other fields as JSON.
func (e GenericError) Error() string { return errorText(e.InnerError, plainGenericError(e)) }

// MarshalJSON returns the fields, with the text of the inner error as "msg".
func (e GenericError) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Message string `json:"msg,omitempty"`
		plainGenericError
	}{message(e.InnerError), plainGenericError(e)})
}

// Unwrap returns the inner error.
func (e GenericError) Unwrap() error { return e.InnerError }
