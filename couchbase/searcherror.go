package couchbase

import (
	"encoding/json"
)

// SearchError is the error of a search. Operations return a pointer to it.
type SearchError struct {
	InnerError     error         `json:"-"`
	Query          any           `json:"query,omitempty"`
	Endpoint       string        `json:"endpoint,omitempty"`
	RetryReasons   []RetryReason `json:"retry_reasons,omitempty"`
	RetryAttempts  uint32        `json:"retry_attempts,omitempty"`
	ErrorText      string        `json:"error_text"` // the body of the reply
	IndexName      string        `json:"index_name,omitempty"`
	HTTPStatusCode int           `json:"http_status_code,omitempty"`
}

var _ error = SearchError{}

// plainSearchError is without methods, so that it is encoded by its tags.
type plainSearchError SearchError

// Error returns the text of the inner error and the other fields as JSON.
func (e SearchError) Error() string { return errorText(e.InnerError, plainSearchError(e)) }

// MarshalJSON returns the fields, with the text of the inner error as "msg".
func (e SearchError) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Message string `json:"msg,omitempty"`
		plainSearchError
	}{message(e.InnerError), plainSearchError(e)})
}

// Unwrap returns the inner error.
func (e SearchError) Unwrap() error { return e.InnerError }
