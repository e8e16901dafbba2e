package simulation

import (
	"errors"
	"slices"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/retry"
)

// report is what an error says to an application.
type report struct {
	text     string
	attempts int // 0 if the error has no history
	sent     int // how many of the attempts may have reached a node, at most
	why      string
	claim    outcome
	// silent means that the error does not say what it must say.
	silent bool
	// ambiguous and unambiguous are the two kinds of timeouts.
	ambiguous, unambiguous bool
	// mayHaveApplied is what the history of the attempts says.
	mayHaveApplied bool
}

// unknownKinds are the errors that say that the outcome is unknown. docs/COUCHBASE.md lists them.
var unknownKinds = []error{couchbase.ErrAmbiguousTimeout, couchbase.ErrDurabilityAmbiguous}

// reportOf reads an error of the client. The history of the attempts says whether the outcome is known. Without a history nothing was
// sent, or the write was applied and its copies were not seen: then the operation was cancelled or its time had run out.
func reportOf(err error) report {
	r := report{
		text: err.Error(), ambiguous: errors.Is(err, couchbase.ErrAmbiguousTimeout), unambiguous: errors.Is(err, couchbase.ErrUnambiguousTimeout),
	}
	for _, kind := range unknownKinds {
		if errors.Is(err, kind) {
			r.claim = unknown
		}
	}
	if errors.Is(err, couchbase.ErrMutationLost) {
		r.claim = applied
	}
	var h *retry.Error
	if !errors.As(err, &h) {
		if errors.Is(err, couchbase.ErrRequestCanceled) {
			r.claim = unknown
		}
		return r
	}
	r.attempts, r.sent, r.why, r.mayHaveApplied = h.Total, h.Total, h.StopReason().String(), h.MayHaveApplied()
	for _, a := range h.Attempts {
		if a.Stage == retry.StageBeforeSending {
			r.sent--
		}
	}
	if r.mayHaveApplied {
		r.claim = unknown
	}
	r.silent = h.Total < 1 || slices.Contains([]retry.StopReason{retry.StopNone, retry.NotStopped}, h.StopReason())
	return r
}
