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

// noReply is the failure of an attempt without an answer.
func (u *run) noReply(err error) retry.Failure {
	stage := asKV(err).Stage
	switch {
	case errors.Is(err, kv.ErrDeadline), errors.Is(err, kv.ErrCancelled): // the engine sees that the run has ended
		return retry.Failure{Err: &attemptError{kind: ErrRequestCanceled, err: err, ended: true}, Stage: stage, Endpoint: u.address()}
	case errors.Is(err, kv.ErrQueueFull):
		return u.notSent(attemptCause{ErrOverload, couchbasereason.SocketNotAvailable, err}, nil)
	case !errors.Is(err, kv.ErrClosed) && stage == retry.StageDispatch:
		return u.invalid(err)
	case !errors.Is(err, kv.ErrClosed):
		return u.unreadable(err)
	case stage == retry.StageDispatch:
		u.endpoint.Lost(u.conn)
		return u.noConnection()
	}
	u.endpoint.Lost(u.conn)
	cause := &attemptError{kind: ErrRequestCanceled, err: err}
	if errors.Is(err, cluster.ErrClosed) {
		cause.also = ErrShutdown
	}
	return retry.Failure{
		Err: cause, Stage: stage, Reason: couchbasereason.SocketClosedInFlight, Endpoint: u.address(), Wake: u.wakeMoved(u.snapshot),
	}
}

// unreadable is the failure of an attempt whose answer cannot be understood: nothing is known of its effect.
func (u *run) unreadable(err error) retry.Failure {
	u.endpoint.Lost(u.conn)
	return retry.Failure{Err: &attemptError{kind: ErrDecodingFailure, err: err}, Stage: retry.StageInFlight, Endpoint: u.address()}
}

// refusedBy is the failure of an attempt that was answered by a status.
func (u *run) refusedBy(status memd.Status) retry.Failure {
	entry, described := u.conn.ErrorMap().Entry(status)
	m := u.runner.meaning(status, u.request)
	cause := &attemptError{
		kind: m.kind, status: status, hasStatus: true, info: memd.ParseErrorInfo(&u.reply.Packet), entry: entry, answer: u.reply.Value,
		specIndex: -1,
	}
	failure := retry.Failure{
		Err: cause, Stage: retry.StageResponded, Reason: m.reason, Endpoint: u.address(), Unsettled: m.unsettled,
	}
	if m.byMap {
		u.byErrorMap(&failure, m, entry, described)
	}
	switch m.then {
	case thenNothing:
	case thenMap:
		failure.Wake = u.notMine()
	case thenFetch:
		failure.Wake = u.configOnly()
	case thenLookUp:
		failure.Wake = u.outdated()
	case thenReconnect:
		u.reconnect(cause)
		if failure.Reason == couchbasereason.SocketNotAvailable {
			failure.Wake = u.wakeEndpoint()
		}
	case thenSpec:
		u.failedSpec(cause)
	}
	return failure
}

// byErrorMap judges a status that the table leaves to the server's error map.
func (u *run) byErrorMap(f *retry.Failure, m meaning, entry memd.ErrorMapEntry, described bool) {
	if entry.Retryable() {
		f.Reason = couchbasereason.KVErrorMapRetryIndicated
	}
	if m.kind != nil {
		return
	}
	f.Unsettled = !described // nobody knows what the status means
	if entry.Has(memd.AttributeConnInvalidated) || entry.Has(memd.AttributeSpecialHandling) {
		u.reconnect(f.Err)
	}
	if entry.Has(memd.AttributeFetchConfig) {
		u.bucket.Refresh(u.snapshot, u.endpoint)
	}
}

// notMine reacts to an endpoint that does not own the vbucket. It takes the map of the answer; that map does not end the wait. Without a
// map, and without a newer one in hand, one fetch serves all who need one.
func (u *run) notMine() <-chan struct{} {
	if len(u.reply.Value) > 0 && u.bucket.Learn(u.reply.Value, u.conn.Address()) {
		s := u.bucket.Snapshot()
		u.refused = s
		if s != u.snapshot {
			u.refused = nil
		}
		return u.wakeMoved(s)
	}
	u.refused = u.snapshot
	wake := u.wakeMoved(u.snapshot)
	u.bucket.Refresh(u.snapshot, u.endpoint)
	return wake
}

// configOnly reacts to an endpoint that has maps only.
func (u *run) configOnly() <-chan struct{} {
	u.refused = u.snapshot
	wake := u.wakeMoved(u.snapshot)
	u.bucket.Refresh(u.snapshot, nil)
	return wake
}

// outdated reacts to an endpoint that does not know the collection's id. The wait ends when the id is known anew.
func (u *run) outdated() <-chan struct{} {
	c := u.request.Collection
	if c == nil || u.id == nil {
		return nil
	}
	uid, told := memd.ManifestUID(&u.reply.Packet)
	if !c.Outdated(u.id, uid, told) {
		return nil
	}
	return c.LookUp(u.conn).Known()
}

// reconnect closes the connection, whose state is not valid any more. The endpoint makes another one.
func (u *run) reconnect(cause error) {
	u.endpoint.Lost(u.conn)
	u.conn.Close(cause)
}

// failedSpec finds the part of a sub-document mutation that failed, and its kind.
func (u *run) failedSpec(cause *attemptError) {
	index, status, err := memd.ParseMutationFailure(u.reply.Value, memd.MaxSpecs)
	if err != nil {
		cause.err = fmt.Errorf("the answer cannot be read: %w", err)
		return
	}
	cause.specIndex, cause.specStatus = index, status
	if m := meaningOf(status, u.request.Opcode, 0); m.kind != nil {
		cause.kind = m.kind
	}
}
