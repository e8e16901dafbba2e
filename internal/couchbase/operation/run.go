package operation

import (
	"context"
	"sync"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/cluster"
	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
	"github.com/holdfast-db/holdfast/retry"
)

// run is one operation under way, and its context: the caller's, which ends at the operation's deadline at the latest. The context
// that ends with a timer is made only when somebody asks for Done.
type run struct {
	runner   *Runner
	attempts retry.AttemptFunc // the method attempt, made once for each run
	caller   context.Context   //nolint:containedctx // the run is the context of its operation
	op       *Operation
	bucket   *cluster.Bucket
	deadline time.Time
	began    time.Time

	wire   kv.Request
	reply  kv.Reply
	frames [maxFrames]byte

	target        // of the latest attempt
	sent     sent // the latest attempt that was sent
	troubled bool // an attempt failed, so a strategy may keep the run
	byCaller bool // the deadline is that of the caller's context

	// refusedBy is the snapshot by which an endpoint was chosen that does not have the vbucket; with the same one the next attempt goes
	// to the forward owner.
	refusedBy *cluster.Snapshot

	mu     sync.Mutex
	ended  context.Context //nolint:containedctx // made by Done
	cancel context.CancelFunc
}

// maxFrames is the size in bytes of the largest framing extras of a request.
const maxFrames = 8

// target is where an attempt is sent.
type target struct {
	snapshot *cluster.Snapshot
	endpoint *cluster.Endpoint
	conn     *kv.Conn
	id       *cluster.CollectionID
	vbucket  uint16
}

func newRun(runner *Runner) *run {
	r := &run{runner: runner}
	r.attempts = r.attempt
	return r
}

// begin sets the operation and its deadline.
func (r *run) begin(ctx context.Context, timeout time.Duration, op *Operation) {
	r.caller, r.op, r.began, r.bucket = ctx, op, op.Began, op.bucket()
	if r.began.IsZero() {
		r.began = time.Now()
	}
	if timeout > 0 {
		r.deadline = r.began.Add(timeout)
	}
	if d, ok := ctx.Deadline(); ok && (r.deadline.IsZero() || d.Before(r.deadline)) {
		r.deadline, r.byCaller = d, true
	}
	r.prepare()
}

// empty makes the run ready for another operation.
func (r *run) empty() { *r = run{runner: r.runner, attempts: r.attempts} }

// Deadline implements context.Context.
func (r *run) Deadline() (time.Time, bool) { return r.deadline, !r.deadline.IsZero() }

// Err implements context.Context.
func (r *run) Err() error {
	if err := r.caller.Err(); err != nil {
		return err
	}
	if !r.deadline.IsZero() && !time.Now().Before(r.deadline) {
		return context.DeadlineExceeded
	}
	return nil
}

// Done implements context.Context.
func (r *run) Done() <-chan struct{} { return r.ending().Done() }

// ending returns a context that ends with the operation.
func (r *run) ending() context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended == nil {
		if r.deadline.IsZero() {
			r.ended, r.cancel = context.WithCancel(r.caller)
		} else {
			r.ended, r.cancel = context.WithDeadline(r.caller, r.deadline)
		}
	}
	return r.ended
}

// Value implements context.Context.
func (r *run) Value(key any) any {
	if key == (runKey{}) {
		return r
	}
	return r.caller.Value(key)
}

type runKey struct{}

// Identifier returns the opaque of the latest request that an operation sent, by the context that its strategy or observer got, and
// reports whether there was one.
func Identifier(ctx context.Context) (uint32, bool) {
	r, ok := ctx.Value(runKey{}).(*run)
	if !ok {
		return 0, false
	}
	return r.sent.opaque, r.sent.any
}

// end frees what the run holds.
func (r *run) end() {
	if r.cancel != nil {
		r.cancel()
	}
}

// do makes the attempts. A panic of the application's strategy passes through.
func (r *run) do(engine *retry.Engine) error {
	defer r.end()
	op := r.op
	return engine.Do(r, retry.Operation{Strategy: op.Strategy, Name: op.Name, Data: op.Data, Idempotency: op.Idempotency}, r.attempts)
}
