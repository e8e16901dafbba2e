package operation

import (
	"fmt"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// attemptError is the error of one attempt.
type attemptError struct {
	kind  error // a sentinel, or nil
	also  error // another sentinel, or nil
	err   error // more about it, or nil
	ended bool  // the caller left: the attempt itself shows nothing

	status     memd.Status
	hasStatus  bool
	answer     []byte
	info       memd.ErrorInfo
	entry      memd.ErrorMapEntry
	specIndex  int // of the part that failed, if specStatus is not StatusSuccess
	specStatus memd.Status
}

// Error returns the kind, the details and the status.
func (e *attemptError) Error() string {
	text := "the server refused the request"
	if e.kind != nil {
		text = e.kind.Error()
	}
	if e.err != nil {
		text += ": " + e.err.Error()
	}
	if e.hasStatus {
		text += fmt.Sprintf(" (%v)", e.status)
	}
	if e.specStatus != memd.StatusSuccess {
		text += fmt.Sprintf(", part %d: %v", e.specIndex, e.specStatus)
	}
	if e.info.Context != "" {
		text += ": " + e.info.Context
	}
	return text
}

// Unwrap returns the sentinels and the details.
func (e *attemptError) Unwrap() []error {
	var all []error
	for _, err := range []error{e.kind, e.also, e.err} {
		if err != nil {
			all = append(all, err)
		}
	}
	return all
}
