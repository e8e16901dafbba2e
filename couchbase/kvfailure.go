package couchbase

import (
	"errors"
	"fmt"

	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
	"github.com/holdfast-db/holdfast/internal/couchbase/operation"
	"github.com/holdfast-db/holdfast/retry"
)

// failure is the inner error of an operation's error: a sentinel, with its text, and everything else that errors.Is and errors.As can
// find, such as the *retry.Error with the history of the attempts.
type failure struct {
	kind  error
	cause error
}

// Error says also why there is no connection, if that is the reason: then there is no status that says it.
func (f *failure) Error() string {
	var refused *kv.HandshakeError
	if errors.As(f.cause, &refused) {
		return fmt.Sprintf("%v: %v", f.kind, refused)
	}
	return f.kind.Error()
}

func (f *failure) Unwrap() []error { return []error{f.kind, f.cause} }

// timeout is the inner error of an operation, or of a wait, whose time has run out. Its text has the reason why the last attempt failed.
type timeout struct{ failure }

func timedOut(kind, cause error) error { return &timeout{failure{kind, cause}} }

func (t *timeout) Error() string {
	var history *retry.Error
	if errors.As(t.cause, &history) {
		return fmt.Sprintf("%v: %v", t.kind, history.Last().Err)
	}
	return fmt.Sprintf("%v: %v", t.kind, t.cause)
}

// keyValueFailure returns a *TimeoutError or a *KeyValueError.
func keyValueFailure(kind *kvOperation, e *operation.Error) error {
	if e.TimedOut {
		sentinel := ErrUnambiguousTimeout
		if e.Ambiguous {
			sentinel = ErrAmbiguousTimeout
		}
		return &TimeoutError{
			InnerError: timedOut(sentinel, e), OperationID: kind.id, Opaque: fmt.Sprintf("0x%x", e.Opaque), TimeObserved: e.Observed,
			RetryReasons: reasonList(e.Reasons), RetryAttempts: uint32(e.Retries), //nolint:gosec // a small count
			LastDispatchedTo: e.DispatchedTo, LastDispatchedFrom: e.DispatchedFrom, LastConnectionID: e.ConnID,
		}
	}
	return &KeyValueError{
		InnerError: &failure{kindOf(kind, e), e}, StatusCode: StatusCode(e.Status), DocumentID: string(e.Key), BucketName: e.Bucket, ScopeName: e.Scope,
		CollectionName: e.Collection, CollectionID: e.CollectionID, ErrorName: e.Entry.Name, ErrorDescription: e.Entry.Description,
		Opaque: e.Opaque, Context: e.Info.Context, Ref: e.Info.Ref, RetryReasons: reasonList(e.Reasons),
		RetryAttempts:    uint32(e.Retries), //nolint:gosec // a small count
		LastDispatchedTo: e.DispatchedTo, LastDispatchedFrom: e.DispatchedFrom, LastConnectionID: e.ConnID,
	}
}

// kindOf returns the sentinel that says what happened.
func kindOf(operated *kvOperation, e *operation.Error) error {
	if e.Cancelled {
		return ErrRequestCanceled
	}
	kinds := e.Unwrap()
	if len(kinds) == 0 {
		return e
	}
	if attempt, ok := kinds[0].(interface{ Unwrap() []error }); ok {
		if inner := attempt.Unwrap(); len(inner) > 0 {
			if adjoins := operated == kvAppend || operated == kvPrepend; adjoins && errors.Is(inner[0], operation.ErrDocumentNotStored) {
				return ErrDocumentNotFound // so a server says that there is no document to append to
			}
			return inner[0]
		}
	}
	return kinds[0]
}

// reasonList returns reasons with the names of gocb.
func reasonList(reasons []retry.Reason) []RetryReason {
	var list []RetryReason
	for _, r := range reasons {
		list = append(list, retryReason{r})
	}
	return list
}
