package couchbase

import (
	"context"
	"strconv"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/retold"
	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
	"github.com/holdfast-db/holdfast/internal/couchbase/operation"
	"github.com/holdfast-db/holdfast/internal/couchbase/services"
	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/telemetry"
)

// tracedAttempt is an attempt of which a tracer is told.
type tracedAttempt struct {
	of   *traced
	ctx  context.Context // the one that the tracer made
	told telemetry.Attempt
}

// attempt tells that an attempt begins.
func (t *traced) attempt(number int, c telemetry.Connection) *tracedAttempt {
	a := &tracedAttempt{of: t, told: telemetry.Attempt{
		Operation: &t.told, Number: number, Name: t.told.Name, Namespace: t.told.Namespace, Collection: t.told.Collection,
		Began: time.Now(), Connection: c,
	}}
	a.ctx = began(t.ctx, t.tracer.AttemptBegan, &a.told)
	return a
}

// ended tells how the attempt ended.
func (a *tracedAttempt) ended(r telemetry.Result) {
	if a.of.tracer.AttemptEnded != nil {
		r.Took, r.Rows, r.Err = time.Since(a.told.Began), -1, shown(r.Err)
		a.of.tracer.AttemptEnded(a.ctx, &a.told, &r)
	}
}

// tellsAttempts reports whether a tracer is told of attempts.
func tellsAttempts(t *telemetry.Tracer) bool {
	return t != nil && (t.AttemptBegan != nil || t.AttemptEnded != nil)
}

// kvAttempts tells the application's tracer of the attempts of key-value operations. What looks at the copies of a write is no operation.
type kvAttempts struct{ next operation.Tracer }

var _ operation.Tracer = kvAttempts{}

// Dispatching implements [operation.Tracer].
func (t kvAttempts) Dispatching(ctx context.Context, op *operation.Operation, n int, conn *kv.Conn) func(operation.Dispatch) {
	spanned := t.next.Dispatching(ctx, op, n, conn)
	in := tracedIn(ctx)
	if in == nil {
		return spanned
	}
	a := in.attempt(n, telemetry.Connection{Address: conn.Address(), Name: conn.ID(), Local: conn.Local(), Remote: conn.Remote()})
	return func(d operation.Dispatch) {
		if spanned != nil {
			defer spanned(d)
		}
		r := telemetry.Result{Err: d.Err, Identifier: operationID(d.Opaque), Server: d.Server}
		if d.Err != nil {
			r.Code = int32(d.Status)
		}
		a.ended(r)
	}
}

// operationID returns what a key-value request is found by in the logs of a server.
func operationID(opaque uint32) string { return "0x" + strconv.FormatUint(uint64(opaque), 16) }

// attempted tells of an attempt on an HTTP service. It returns what tells of its end, nil if nobody wants to know.
func (op *httpOperation) attempted(d services.Dispatch) func(status int, err error) {
	if op.traced == nil || !tellsAttempts(op.traced.tracer) {
		return nil
	}
	a := op.traced.attempt(d.Retries, telemetry.Connection{Address: d.Address, Local: d.Local, Remote: d.Remote})
	return func(status int, err error) {
		r := telemetry.Result{Err: err, Identifier: op.call.ID}
		if err != nil && status >= 300 {
			r.Code = int32(status) //nolint:gosec // three digits
		}
		a.ended(r)
	}
}

// decisions tells a tracer what the engine decides.
type decisions struct{}

var _ retry.Observer = decisions{}

// Observe implements [retry.Observer].
func (decisions) Observe(ctx context.Context, e retry.Event) {
	in := tracedIn(ctx)
	if in == nil {
		return
	}
	decision := retold.Decision(&e)
	if decision == nil {
		return
	}
	decision.Operation, decision.Err = &in.told, shown(decision.Err)
	in.tracer.Decided(in.ctx, decision) //nolint:contextcheck // ctx is made from it
}
