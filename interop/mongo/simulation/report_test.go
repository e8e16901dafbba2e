package simulation

import (
	"context"
	"errors"
	"slices"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/retry"
)

// report is what an error says to an application that reads docs/RETRIES.md.
type report struct {
	text     string
	attempts int // 0 if no attempt reached a server
	unsent   int // how many of the attempts were not sent, at least
	why      string
	claim    outcome
	// silent means that the error does not say what it must say.
	silent bool
	// selection means that no server could be selected.
	selection bool
	// answered means that the server answered each attempt, and gave none up in the middle.
	answered bool
}

// reportOf reads an error of the client. A write concern error means that the outcome is unknown. Only the error of a context that ended
// before the operation has no history.
func reportOf(err error) report {
	r := report{text: err.Error(), claim: notApplied}
	var history *retry.Error
	switch {
	case errors.As(err, &history):
		r.fromHistory(history)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		r.why = "the context ended before the first attempt"
	default:
		r.silent = true
	}
	return r
}

func (r *report) fromHistory(h *retry.Error) {
	r.attempts, r.why = h.Total, h.StopReason().String()
	r.selection = h.Total == 0
	r.answered = !r.selection && len(h.Attempts) == h.Total
	for _, a := range h.Attempts {
		r.answered = r.answered && a.Stage == retry.StageAnswered && !interrupted(a.Err)
		if a.Stage == retry.StageBeforeSending {
			r.unsent++
		}
	}
	if h.MayHaveApplied() {
		r.claim = unknown
	}
	r.silent = slices.Contains([]retry.StopReason{retry.StopNone, retry.NotStopped}, h.StopReason())
}

// interrupted reports whether a server gave a command up, of which it may have done a part.
func interrupted(err error) bool {
	var e mongo.CommandError
	return errors.As(err, &e) && slices.Contains([]int32{50, 189, 262, 11600, 11601, 11602}, e.Code)
}

// concernFailed reports whether an error has a write concern error.
func concernFailed(err error) bool {
	var one mongo.WriteException
	var bulk mongo.BulkWriteException
	var client mongo.ClientBulkWriteException
	var commit mongo.CommandError
	switch {
	case errors.As(err, &one):
		return one.WriteConcernError != nil
	case errors.As(err, &bulk):
		return bulk.WriteConcernError != nil
	case errors.As(err, &client):
		return len(client.WriteConcernErrors) > 0
	case errors.As(err, &commit):
		return commit.Raw != nil && commit.Raw.Lookup("writeConcernError").Type != 0
	}
	return false
}
