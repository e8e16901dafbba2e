package couchbase

import (
	"encoding/json"
	"time"
)

// TimeoutError is the error of a key-value operation, or of a wait, whose time has run out. Its inner error matches [ErrTimeout], one of
// [ErrUnambiguousTimeout] and [ErrAmbiguousTimeout], and the cause of the last failed attempt. Operations return a pointer to it.
type TimeoutError struct {
	InnerError         error
	OperationID        string
	Opaque             string
	TimeObserved       time.Duration // since the operation began
	RetryReasons       []RetryReason
	RetryAttempts      uint32
	LastDispatchedTo   string
	LastDispatchedFrom string
	LastConnectionID   string
}

var _ error = TimeoutError{}

// timeoutDetails is a TimeoutError as JSON.
type timeoutDetails struct {
	Message            string        `json:"msg,omitempty"`
	OperationID        string        `json:"operation_id,omitempty"`
	Opaque             string        `json:"opaque,omitempty"`
	Microseconds       int64         `json:"time_observed,omitempty"`
	RetryReasons       []RetryReason `json:"retry_reasons,omitempty"`
	RetryAttempts      uint32        `json:"retry_attempts,omitempty"`
	LastDispatchedTo   string        `json:"last_dispatched_to,omitempty"`
	LastDispatchedFrom string        `json:"last_dispatched_from,omitempty"`
	LastConnectionID   string        `json:"last_connection_id,omitempty"`
}

func (e TimeoutError) details(message string) timeoutDetails {
	return timeoutDetails{
		Message: message, OperationID: e.OperationID, Opaque: e.Opaque, Microseconds: e.TimeObserved.Microseconds(), RetryReasons: e.RetryReasons,
		RetryAttempts: e.RetryAttempts, LastDispatchedTo: e.LastDispatchedTo, LastDispatchedFrom: e.LastDispatchedFrom,
		LastConnectionID: e.LastConnectionID,
	}
}

// Error returns the text of the inner error and the other fields as JSON. The time is in microseconds.
func (e TimeoutError) Error() string { return errorText(e.InnerError, e.details("")) }

// MarshalJSON returns the fields, with the text of the inner error as "msg". The time is in microseconds.
func (e TimeoutError) MarshalJSON() ([]byte, error) {
	return json.Marshal(e.details(message(e.InnerError)))
}

// Unwrap returns the inner error.
func (e TimeoutError) Unwrap() error { return e.InnerError }
