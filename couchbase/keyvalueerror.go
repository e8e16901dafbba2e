package couchbase

import (
	"encoding/json"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// StatusCode is the status of a key-value reply, as the server sent it.
type StatusCode uint16

// String returns the status in words, with its number.
func (s StatusCode) String() string { return memd.Status(s).String() }

// KeyValueError is the error of a key-value operation that the server answered. Operations return a pointer to it.
type KeyValueError struct {
	InnerError         error         `json:"-"`
	StatusCode         StatusCode    `json:"status_code,omitempty"`
	DocumentID         string        `json:"document_id,omitempty"`
	BucketName         string        `json:"bucket,omitempty"`
	ScopeName          string        `json:"scope,omitempty"`
	CollectionName     string        `json:"collection,omitempty"`
	CollectionID       uint32        `json:"collection_id,omitempty"`
	ErrorName          string        `json:"error_name,omitempty"`
	ErrorDescription   string        `json:"error_description,omitempty"`
	Opaque             uint32        `json:"opaque,omitempty"`
	Context            string        `json:"context,omitempty"`
	Ref                string        `json:"ref,omitempty"`
	RetryReasons       []RetryReason `json:"retry_reasons,omitempty"`
	RetryAttempts      uint32        `json:"retry_attempts,omitempty"`
	LastDispatchedTo   string        `json:"last_dispatched_to,omitempty"`
	LastDispatchedFrom string        `json:"last_dispatched_from,omitempty"`
	LastConnectionID   string        `json:"last_connection_id,omitempty"`
}

var _ error = KeyValueError{}

// plainKeyValueError is without methods, so that it is encoded by its tags.
type plainKeyValueError KeyValueError

// Error returns the text of the inner error and the other fields as JSON.
func (e KeyValueError) Error() string { return errorText(e.InnerError, plainKeyValueError(e)) }

// MarshalJSON returns the fields, with the text of the inner error as "msg".
func (e KeyValueError) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Message string `json:"msg,omitempty"`
		plainKeyValueError
	}{message(e.InnerError), plainKeyValueError(e)})
}

// Unwrap returns the inner error.
func (e KeyValueError) Unwrap() error { return e.InnerError }
