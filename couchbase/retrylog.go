package couchbase

import (
	"context"

	"github.com/holdfast-db/holdfast/retry"
)

// retryLog logs every retry and every refusal with its reason, attempt and delay.
type retryLog struct {
	next retry.Observer // nil: none
}

var _ retry.Observer = retryLog{}

// listens reports whether anybody wants the events now: the logger may be set after the cluster was made.
func (l retryLog) listens() bool { return l.next != nil || currentLogger.Load() != nil }

// Observe logs each retry when it is decided, and each refusal when the operation ends.
func (l retryLog) Observe(ctx context.Context, e retry.Event) {
	switch {
	case e.Kind == retry.EventDecided && e.StopReason == retry.NotStopped:
		logf(LogDebug, "%s: attempt %d on %s failed (%v, reason %v); another one follows after %v: %s",
			e.Name, e.Attempt, metaData(e.Endpoint), e.Stage, e.Reason, e.Delay, userData(e.Failure.Err))
	case e.Kind == retry.EventEnded && e.Err != nil: // the decision may have been to retry, and the delay ended with the operation
		level := LogInfo
		if ordinary(&e) {
			level = LogDebug
		}
		logf(level, "%s: attempt %d on %s failed (%v, reason %v); there is no other one, because %v (delay %v): %s",
			e.Name, e.Attempt, metaData(e.Endpoint), e.Stage, e.Reason, e.StopReason, e.Delay, userData(e.Failure.Err))
	}
	if l.next != nil {
		l.next.Observe(ctx, e)
	}
}

// ordinary reports whether an operation ended as an application may expect: by an answer that gives no reason for a retry, such as
// "document not found", or by its own cancellation. Its line would fill a log that is about trouble.
func ordinary(e *retry.Event) bool {
	switch {
	case e.Name == kvObserve.name, e.Name == kvObserveSeq.name: // another look at the copy follows
		return true
	case e.Reason != retry.ReasonUnknown:
		return false
	}
	return e.StopReason == retry.StopCancelled || e.Stage == retry.StageAnswered && !e.Unsettled
}
