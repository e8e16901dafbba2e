package couchbase

import (
	"encoding/json"
)

// ViewError is the error of a view query. Operations return a pointer to it.
type ViewError struct {
	InnerError         error           `json:"-"`
	DesignDocumentName string          `json:"design_document_name,omitempty"`
	ViewName           string          `json:"view_name,omitempty"`
	Errors             []ViewErrorDesc `json:"errors,omitempty"`
	Endpoint           string          `json:"endpoint,omitempty"`
	RetryReasons       []RetryReason   `json:"retry_reasons,omitempty"`
	RetryAttempts      uint32          `json:"retry_attempts,omitempty"`
	ErrorText          string          `json:"error_text,omitempty"` // the body of the reply
	HTTPStatusCode     int             `json:"http_status_code,omitempty"`
}

var _ error = ViewError{}

// plainViewError is without methods, so that it is encoded by its tags.
type plainViewError ViewError

// Error returns the text of the inner error and the other fields as JSON.
func (e ViewError) Error() string { return errorText(e.InnerError, plainViewError(e)) }

// MarshalJSON returns the fields, with the text of the inner error as "msg".
func (e ViewError) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Message string `json:"msg,omitempty"`
		plainViewError
	}{message(e.InnerError), plainViewError(e)})
}

// Unwrap returns the inner error.
func (e ViewError) Unwrap() error { return e.InnerError }

// ViewErrorDesc is the error of one node in the reply of a view query.
type ViewErrorDesc struct {
	SourceNode string
	Message    string
}
