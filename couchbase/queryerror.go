package couchbase

import (
	"encoding/json"
)

// QueryError is the error of a query. Operations return a pointer to it.
type QueryError struct {
	InnerError      error            `json:"-"`
	Statement       string           `json:"statement,omitempty"`
	ClientContextID string           `json:"client_context_id,omitempty"`
	Errors          []QueryErrorDesc `json:"errors,omitempty"`
	Endpoint        string           `json:"endpoint,omitempty"`
	RetryReasons    []RetryReason    `json:"retry_reasons,omitempty"`
	RetryAttempts   uint32           `json:"retry_attempts,omitempty"`
	ErrorText       string           `json:"error_text,omitempty"` // the body of the reply
	HTTPStatusCode  int              `json:"http_status_code,omitempty"`
}

var _ error = QueryError{}

// plainQueryError is without methods, so that it is encoded by its tags.
type plainQueryError QueryError

// Error returns the text of the inner error and the other fields as JSON.
func (e QueryError) Error() string { return errorText(e.InnerError, plainQueryError(e)) }

// MarshalJSON returns the fields, with the text of the inner error as "msg".
func (e QueryError) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Message string `json:"msg,omitempty"`
		plainQueryError
	}{message(e.InnerError), plainQueryError(e)})
}

// Unwrap returns the inner error.
func (e QueryError) Unwrap() error { return e.InnerError }

// QueryErrorDesc is one error of the query service.
type QueryErrorDesc struct {
	Code    uint32
	Message string
	Retry   bool // the service says that the statement may be sent again
	Reason  map[string]any
}

// MarshalJSON returns the fields with the names that the query service gives them.
func (e QueryErrorDesc) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Code    uint32         `json:"code"`
		Message string         `json:"message"`
		Retry   bool           `json:"retry,omitempty"`
		Reason  map[string]any `json:"reason,omitempty"`
	}(e))
}
