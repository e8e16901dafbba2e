package operation

import (
	"errors"
	"fmt"

	"github.com/holdfast-db/holdfast/internal/couchbase/cluster"
	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/couchbasereason"
)

// asKV returns the connection's error about a request. Its stage is the careful one if the connection gave none.
func asKV(err error) kv.Error {
	var e *kv.Error
	if errors.As(err, &e) {
		return *e
	}
	return kv.Error{Err: err}
}

// ioFailed is the failure of an attempt without an answer.
func (r *run) ioFailed(err error) retry.Failure {
	stage := asKV(err).Stage
	switch {
	case errors.Is(err, kv.ErrDeadline), errors.Is(err, kv.ErrCancelled): // the engine sees that the run has ended
		return retry.Failure{Err: &attemptError{kind: ErrRequestCanceled, err: err, ended: true}, Stage: stage, Endpoint: r.address()}
	case errors.Is(err, kv.ErrQueueFull):
		return r.notSent(attemptCause{ErrOverload, couchbasereason.SocketNotAvailable, err}, nil)
	case !errors.Is(err, kv.ErrClosed) && stage == retry.StageBeforeSending:
		return r.invalid(err)
	case !errors.Is(err, kv.ErrClosed):
		return r.unreadable(err)
	case stage == retry.StageBeforeSending:
		r.endpoint.Lost(r.conn)
		return r.noConnection()
	}
	r.endpoint.Lost(r.conn)
	cause := &attemptError{kind: ErrRequestCanceled, err: err}
	if errors.Is(err, cluster.ErrClosed) {
		cause.also = ErrShutdown
	}
	return retry.Failure{
		Err: cause, Stage: stage, Reason: couchbasereason.SocketClosedInFlight, Endpoint: r.address(), Wake: r.wakeMoved(r.snapshot),
	}
}

// unreadable is the failure of an attempt whose answer cannot be understood: nothing is known of its effect.
func (r *run) unreadable(err error) retry.Failure {
	r.endpoint.Lost(r.conn)
	return retry.Failure{Err: &attemptError{kind: ErrDecodingFailure, err: err}, Stage: retry.StageInFlight, Endpoint: r.address()}
}

// statusFailure is the failure of an attempt that was answered by a status.
func (r *run) statusFailure(status memd.Status) retry.Failure {
	entry, described := r.conn.ErrorMap().Entry(status)
	m := meaningOf(status, r.op.Opcode, r.op.CAS)
	cause := &attemptError{
		kind: m.kind, status: status, hasStatus: true, info: memd.ParseErrorInfo(&r.reply.Packet), entry: entry, answer: r.reply.Value,
		specIndex: -1,
	}
	failure := retry.Failure{
		Err: cause, Stage: retry.StageAnswered, Reason: m.reason, Endpoint: r.address(), Unsettled: m.unsettled,
	}
	if m.byMap {
		r.byErrorMap(&failure, m, entry, described)
	}
	switch m.then {
	case thenNothing:
	case thenMap:
		failure.Wake = r.notMine()
	case thenFetch:
		failure.Wake = r.configOnly()
	case thenLookUp:
		failure.Wake = r.outdated()
	case thenReconnect:
		r.reconnect(cause)
		if failure.Reason == couchbasereason.SocketNotAvailable {
			failure.Wake = r.wakeEndpoint()
		}
	case thenSpec:
		r.failedSpec(cause)
	}
	return failure
}

// byErrorMap judges a status that the table leaves to the server's error map.
func (r *run) byErrorMap(f *retry.Failure, m meaning, entry memd.ErrorMapEntry, described bool) {
	if entry.Retryable() {
		f.Reason = couchbasereason.KVErrorMapRetryIndicated
	}
	if m.kind != nil {
		return
	}
	f.Unsettled = !described // nobody knows what the status means
	if entry.Has(memd.AttributeConnInvalidated) || entry.Has(memd.AttributeSpecialHandling) {
		r.reconnect(f.Err)
	}
	if entry.Has(memd.AttributeFetchConfig) {
		r.bucket.Refresh(r.snapshot, r.endpoint)
	}
}

// notMine reacts to an endpoint that does not own the vbucket. It takes the map of the answer; that map does not end the wait. If the
// answer has no map, and no newer one is there, one fetch serves all who need one.
func (r *run) notMine() <-chan struct{} {
	if len(r.reply.Value) > 0 && r.bucket.Learn(r.reply.Value, r.conn.Address()) {
		s := r.bucket.Snapshot()
		r.refusedBy = s
		if s != r.snapshot {
			r.refusedBy = nil
		}
		return r.wakeMoved(s)
	}
	r.refusedBy = r.snapshot
	wake := r.wakeMoved(r.snapshot)
	r.bucket.Refresh(r.snapshot, r.endpoint)
	return wake
}

// configOnly reacts to an endpoint that has maps only.
func (r *run) configOnly() <-chan struct{} {
	r.refusedBy = r.snapshot
	wake := r.wakeMoved(r.snapshot)
	r.bucket.Refresh(r.snapshot, nil)
	return wake
}

// outdated reacts to an endpoint that does not know the collection's id. The wait ends when the id is known anew.
func (r *run) outdated() <-chan struct{} {
	c := r.op.Collection
	if c == nil || r.id == nil {
		return nil
	}
	uid, told := memd.ManifestUID(&r.reply.Packet)
	if !c.Outdated(r.id, uid, told) {
		return nil
	}
	return c.LookUp(r.conn).Known()
}

// reconnect closes the connection, whose state is not valid any more. The endpoint makes another one.
func (r *run) reconnect(cause error) {
	r.endpoint.Refuse(r.conn, cause)
}

// failedSpec finds the part of a sub-document mutation that failed, and its kind.
func (r *run) failedSpec(cause *attemptError) {
	index, status, err := memd.ParseMutationFailure(r.reply.Value, memd.MaxSpecs)
	if err != nil {
		cause.err = fmt.Errorf("the answer cannot be read: %w", err)
		return
	}
	cause.specIndex, cause.specStatus = index, status
	if m := meaningOf(status, r.op.Opcode, 0); m.kind != nil {
		cause.kind = m.kind
	}
}
