package couchbase

import (
	"encoding/json"
)

// HTTPError is the error of a request to the cluster manager. Operations return a pointer to it.
type HTTPError struct {
	InnerError    error         `json:"-"`
	UniqueID      string        `json:"unique_id,omitempty"`
	Endpoint      string        `json:"endpoint,omitempty"`
	RetryReasons  []RetryReason `json:"retry_reasons,omitempty"`
	RetryAttempts uint32        `json:"retry_attempts,omitempty"`
	ErrorText     string        `json:"error_text,omitempty"`
	StatusCode    uint32        `json:"status_code,omitempty"`
}

var _ error = HTTPError{}

// plainHTTPError is without methods, so that it is encoded by its tags.
type plainHTTPError HTTPError

// Error returns the text of the inner error and the other fields as JSON.
func (e HTTPError) Error() string { return errorText(e.InnerError, plainHTTPError(e)) }

// MarshalJSON returns the fields, with the text of the inner error as "msg".
func (e HTTPError) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Message string `json:"msg,omitempty"`
		plainHTTPError
	}{message(e.InnerError), plainHTTPError(e)})
}

// Unwrap returns the inner error.
func (e HTTPError) Unwrap() error { return e.InnerError }
