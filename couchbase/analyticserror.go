package couchbase

import (
	"encoding/json"
)

// AnalyticsError is the error of an analytics query. Operations return a pointer to it.
type AnalyticsError struct {
	InnerError      error                `json:"-"`
	Statement       string               `json:"statement,omitempty"`
	ClientContextID string               `json:"client_context_id,omitempty"`
	Errors          []AnalyticsErrorDesc `json:"errors,omitempty"`
	Endpoint        string               `json:"endpoint,omitempty"`
	RetryReasons    []RetryReason        `json:"retry_reasons,omitempty"`
	RetryAttempts   uint32               `json:"retry_attempts,omitempty"`
	ErrorText       string               `json:"error_text,omitempty"` // the body of the reply
	HTTPStatusCode  int                  `json:"http_status_code,omitempty"`
}

var _ error = AnalyticsError{}

// plainAnalyticsError is without methods, so that it is encoded by its tags.
type plainAnalyticsError AnalyticsError

// Error returns the text of the inner error and the other fields as JSON.
func (e AnalyticsError) Error() string { return errorText(e.InnerError, plainAnalyticsError(e)) }

// MarshalJSON returns the fields, with the text of the inner error as "msg".
func (e AnalyticsError) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Message string `json:"msg,omitempty"`
		plainAnalyticsError
	}{message(e.InnerError), plainAnalyticsError(e)})
}

// Unwrap returns the inner error.
func (e AnalyticsError) Unwrap() error { return e.InnerError }

// AnalyticsErrorDesc is one error of the analytics service.
type AnalyticsErrorDesc struct {
	Code    uint32
	Message string
}
