package operation

import (
	"context"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/retry"
)

// attempt makes one attempt. It is the engine's attempt function.
func (r *run) attempt(_ context.Context, n int) retry.Failure {
	failure := r.try(n)
	if failure.Err != nil {
		r.troubled = true
	}
	return failure
}

func (r *run) try(n int) retry.Failure {
	if failure, ok := r.selectEndpoint(); !ok {
		return failure
	}
	if failure, ok := r.identify(); !ok {
		return failure
	}
	if failure, ok := r.build(); !ok {
		return failure
	}
	permit, ok := r.endpoint.Allow()
	if !ok {
		return r.notSent(errBreakerOpen, r.wakeEndpoint())
	}
	var dispatched func(Dispatch)
	var began time.Time
	if r.runner.tracer != nil {
		if dispatched = r.runner.tracer.Dispatching(r.caller, r.op, n, r.conn); dispatched != nil {
			began = time.Now()
		}
	}
	err := r.conn.RoundTrip(&r.wire, &r.reply)
	r.endpoint.Done(permit, err)
	if err == nil && r.succeeded() {
		if dispatched != nil {
			dispatched(r.dispatch(n, began, nil))
		}
		return retry.Failure{Endpoint: r.endpoint.Address()}
	}
	r.note(err)
	if dispatched == nil {
		return r.failure(err)
	}
	d := r.dispatch(n, began, err)
	failure := r.failure(err)
	d.Err = failure.Err
	dispatched(d)
	return failure
}

// failure describes a round trip that failed to the engine.
func (r *run) failure(err error) retry.Failure {
	if err != nil {
		return r.ioFailed(err)
	}
	return r.statusFailure(r.reply.Status)
}

// sent names the latest request that was sent, or that could not be sent on a connection.
type sent struct {
	opaque           uint32
	to, from, connID string
	any              bool
}

// note remembers the request of an attempt that failed.
func (r *run) note(err error) {
	opaque := r.reply.Opaque
	if err != nil {
		e := asKV(err)
		if e.Stage == retry.StageBeforeSending {
			return
		}
		opaque = e.Opaque
	}
	r.sent = sent{opaque: opaque, to: r.conn.Address(), from: r.conn.Local(), connID: r.conn.ID(), any: true}
}

// dispatch describes an attempt that had a connection.
func (r *run) dispatch(n int, began time.Time, err error) Dispatch {
	d := Dispatch{
		Operation: r.op, Attempt: n, Began: began, Ended: time.Now(),
		Conn: r.conn,
	}
	if err == nil {
		d.Opaque, d.Status = r.reply.Opaque, r.reply.Status
		if data, found, frameErr := memd.FindFrame(r.reply.Frames, memd.FrameServerDuration); found && frameErr == nil {
			d.Server, _ = memd.ServerDuration(data)
		}
	} else {
		d.Opaque = r.sent.opaque
	}
	return d
}

// succeeded reports whether the answer is a success. A look-up of which some parts failed is one: each part has its own status.
func (r *run) succeeded() bool {
	switch r.reply.Status { //nolint:exhaustive // all others are failures
	case memd.StatusSuccess:
		return true
	case memd.StatusSuccessDeleted:
		return r.op.Opcode == memd.OpSubdocMultiLookup || r.op.Opcode == memd.OpSubdocMultiMutation
	case memd.StatusMultiFailure, memd.StatusMultiFailureDeleted:
		return r.op.Opcode == memd.OpSubdocMultiLookup
	}
	return false
}

// result fills the caller's result.
func (r *run) result(to *Result) {
	to.Packet, to.VBucket, to.Conn = r.reply.Packet, r.vbucket, r.conn
	to.CollectionID = 0
	if r.id != nil {
		to.CollectionID = r.id.ID
	}
	if to.Took = time.Since(r.began); !r.troubled {
		r.conn.Answered(to.Took)
	}
}
