package operation

import (
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/retry"
)

// Error is the error of an operation. With errors.Is it matches the sentinels of this package: the kind of its last failure, and
// beside it, if time had run out, ErrTimeout with ErrAmbiguousTimeout or ErrUnambiguousTimeout; if the caller's context ended the
// operation, the error of that context and its cause. errors.As also finds the *retry.Error with the history of the attempts.
type Error struct {
	// Name, Opcode and Key are those of the request.
	Name   string
	Opcode memd.Opcode
	Key    []byte
	// Bucket, Scope and Collection name where the document is. CollectionID is the id of the last attempt that had one.
	Bucket, Scope, Collection string
	CollectionID              uint32

	// Status is that of the last answer, StatusSuccess if none came. Answer is the value of that answer.
	Status    memd.Status
	HasStatus bool
	Answer    []byte
	// Info is the server's explanation; Entry is the status in the error map of the connection.
	Info  memd.ErrorInfo
	Entry memd.ErrorMapEntry
	// SpecIndex is the part of a sub-document mutation that failed, -1 if none did.
	SpecIndex int

	// TimedOut: time had run out. Cancelled: the caller's context was cancelled. Ambiguous: the operation may have been applied.
	TimedOut, Cancelled, Ambiguous bool
	// Observed is how long the operation took.
	Observed time.Duration
	// Opaque names the last request that was sent, on the connection ConnID from DispatchedFrom to DispatchedTo.
	Opaque                               uint32
	DispatchedTo, DispatchedFrom, ConnID string
	// Retries is the number of retries that were made, and Reasons are the reasons of the failed attempts, each once.
	Retries int
	Reasons []retry.Reason
	// History has the attempts; nil if none was made.
	History *retry.Error

	kinds []error // that errors.Is finds
}

// Error returns what happened, and the history of the attempts.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Name)
	switch {
	case e.TimedOut && e.Ambiguous:
		fmt.Fprintf(&b, ": ambiguous timeout after %v; the operation may have been applied", e.Observed)
	case e.TimedOut:
		fmt.Fprintf(&b, ": unambiguous timeout after %v", e.Observed)
	case e.Cancelled:
		fmt.Fprintf(&b, ": cancelled after %v", e.Observed)
	}
	switch {
	case e.History == nil:
		for _, err := range e.kinds {
			fmt.Fprintf(&b, ": %v", err)
		}
	case e.History.Total > 1:
		fmt.Fprintf(&b, ": %v", e.History)
	default: // the history would repeat the error
		last := e.History.Last()
		fmt.Fprintf(&b, ": %v", last.Err)
		if last.Reason != retry.ReasonUnknown {
			fmt.Fprintf(&b, " (%v, no more attempts: %v)", last.Reason, last.StopReason)
		}
	}
	return b.String()
}

// Unwrap returns the errors that errors.Is finds.
func (e *Error) Unwrap() []error { return e.kinds }

// As finds the history of the attempts as *retry.Error.
func (e *Error) As(target any) bool {
	history, ok := target.(**retry.Error)
	if !ok || e.History == nil {
		return false
	}
	*history = e.History
	return true
}

// Timeout is the method of that name of net.Error.
func (e *Error) Timeout() bool { return e.TimedOut }
