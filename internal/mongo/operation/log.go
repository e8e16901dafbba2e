package operation

import (
	"sync/atomic"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/logging"
	"github.com/holdfast-db/holdfast/retry"
)

var operationIDs atomic.Int64

// logID returns the operationId of the log: the same number for all attempts of an operation.
func (r *run) logID() int64 {
	if r.op.LogID == 0 {
		r.op.LogID = operationIDs.Add(1)
	}
	return r.op.LogID
}

// purpose returns the operation for those who are told of selections. If nobody is, it gets no number.
func (r *run) purpose() cluster.Purpose {
	p := cluster.Purpose{Operation: r.op.Name, Waits: r.op.Waits}
	if r.cfg.Cluster.TracesSelections() {
		p.ID, p.Waited, p.Traced = r.logID(), &r.waited, r.op.Traced.Told()
	}
	return p
}

// logRetry writes, at level debug, that an attempt follows one that failed.
func (r *run) logRetry() {
	if r.cfg.Log.Enabled(logging.Command, logging.Debug) {
		r.cfg.Log.Log(logging.Command, logging.Debug, "Operation retried", r.attemptFields(r.number, &r.lastFailure)...)
	}
}

// logRefusal writes, once for an operation, why a failure was not retried (again). Failures for which there is no retry
// anyway are not written, because the error says the same. If the caller cancelled the operation, the level is debug.
func (r *run) logRefusal(history *retry.Error) {
	if !r.cfg.Log.Enabled(logging.Command, logging.Info) {
		return
	}
	level := logging.Info
	if history.StopReason() == retry.StopCancelled {
		level = logging.Debug
	}
	last := history.Last()
	fields := append(r.attemptFields(history.Total, &last.Failure), "stopReason", history.StopReason().String(), "outcomeKnown", history.OutcomeKnown())
	r.cfg.Log.Log(logging.Command, level, "Operation not retried", fields...)
}

// attemptFields describes the failed attempt with this number, the first of which is 1.
func (r *run) attemptFields(attempt int, f *retry.Failure) []any {
	fields := []any{
		"commandName", r.op.Name, "databaseName", r.op.Database, "operationId", r.logID(), "attempt", attempt,
		"reason", f.Reason.String(), "stage", f.Stage.String(),
	}
	if f.Endpoint != "" {
		fields = logging.Endpoint(fields, f.Endpoint)
	}
	if f.Err != nil {
		err := f.Err
		if sensitiveCommand(r.op.Name) {
			err = redacted(err)
		}
		fields = append(fields, "failure", err.Error())
	}
	return fields
}
