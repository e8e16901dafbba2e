package operation

import (
	"context"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/retry"
)

// attempt makes one attempt. It is the engine's attempt function.
func (u *run) attempt(_ context.Context, n int) retry.Failure {
	failure := u.try(n)
	if failure.Err != nil {
		u.troubled = true
	}
	return failure
}

func (u *run) try(n int) retry.Failure {
	if failure, ok := u.route(); !ok {
		return failure
	}
	if failure, ok := u.identify(); !ok {
		return failure
	}
	if failure, ok := u.encode(); !ok {
		return failure
	}
	permit, ok := u.endpoint.Allow()
	if !ok {
		return u.notSent(errBreakerOpen, u.wakeEndpoint())
	}
	var dispatched func(Dispatch)
	var began time.Time
	if u.runner.tracer != nil {
		if dispatched = u.runner.tracer.Dispatching(u.caller, u.request); dispatched != nil {
			began = time.Now()
		}
	}
	err := u.conn.RoundTrip(&u.wire, &u.reply)
	u.endpoint.Done(permit, err)
	if err != nil || !u.succeeded() {
		u.note(err)
	}
	if dispatched != nil {
		dispatched(u.dispatch(n, began, err))
	}
	if err != nil {
		return u.noReply(err)
	}
	if u.succeeded() {
		return retry.Failure{}
	}
	return u.refusedBy(u.reply.Status)
}

// sent names the latest request that was sent, or that could not be sent on a connection.
type sent struct {
	opaque           uint32
	to, from, connID string
	any              bool
}

// note remembers the request of an attempt that failed.
func (u *run) note(err error) {
	opaque := u.reply.Opaque
	if err != nil {
		e := asKV(err)
		if e.Stage == retry.StageDispatch {
			return
		}
		opaque = e.Opaque
	}
	u.sent = sent{opaque: opaque, to: u.conn.Address(), from: u.conn.Local(), connID: u.conn.ID(), any: true}
}

// dispatch describes an attempt that had a connection.
func (u *run) dispatch(n int, began time.Time, err error) Dispatch {
	d := Dispatch{
		Request: u.request, Attempt: n, Began: began, Ended: time.Now(),
		Conn: u.conn, Err: err,
	}
	if err == nil {
		d.Opaque, d.Status = u.reply.Opaque, u.reply.Status
		if data, found, frameErr := memd.FindFrame(u.reply.Frames, memd.FrameServerDuration); found && frameErr == nil {
			d.Server, _ = memd.ServerDuration(data)
		}
	} else {
		d.Opaque = u.sent.opaque
	}
	return d
}

// succeeded reports whether the answer is a success. A look-up of which some parts failed is one: each part has its own status.
func (u *run) succeeded() bool {
	switch u.reply.Status { //nolint:exhaustive // all others are failures
	case memd.StatusSuccess:
		return true
	case memd.StatusSuccessDeleted:
		return u.request.Opcode == memd.OpSubdocMultiLookup || u.request.Opcode == memd.OpSubdocMultiMutation
	case memd.StatusMultiFailure, memd.StatusMultiFailureDeleted:
		return u.request.Opcode == memd.OpSubdocMultiLookup
	}
	return false
}

// result fills the caller's result.
func (u *run) result(r *Result) {
	r.Packet, r.VBucket, r.Conn = u.reply.Packet, u.vbucket, u.conn
	r.CollectionID = 0
	if u.id != nil {
		r.CollectionID = u.id.ID
	}
	if r.Took = time.Since(u.began); !u.troubled {
		u.conn.Answered(r.Took)
	}
}
