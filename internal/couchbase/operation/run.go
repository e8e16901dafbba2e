package operation

import (
	"context"
	"errors"
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
	request  *Request
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

	// refused is the snapshot by which an endpoint was chosen that does not have the vbucket; with the same one the next attempt goes
	// to the forward owner.
	refused *cluster.Snapshot

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

func newRun(r *Runner) *run {
	u := &run{runner: r}
	u.attempts = u.attempt
	return u
}

// Deadline implements context.Context.
func (u *run) Deadline() (time.Time, bool) { return u.deadline, !u.deadline.IsZero() }

// Err implements context.Context.
func (u *run) Err() error {
	if err := u.caller.Err(); err != nil {
		return err
	}
	if !u.deadline.IsZero() && !time.Now().Before(u.deadline) {
		return context.DeadlineExceeded
	}
	return nil
}

// Done implements context.Context.
func (u *run) Done() <-chan struct{} { return u.ending().Done() }

// ending returns a context that ends with the operation.
func (u *run) ending() context.Context {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ended == nil {
		if u.deadline.IsZero() {
			u.ended, u.cancel = context.WithCancel(u.caller)
		} else {
			u.ended, u.cancel = context.WithDeadline(u.caller, u.deadline)
		}
	}
	return u.ended
}

// Value implements context.Context.
func (u *run) Value(key any) any {
	if key == (runKey{}) {
		return u
	}
	return u.caller.Value(key)
}

type runKey struct{}

// Identifier returns the opaque of the latest request that an operation sent, by the context that its strategy or observer got, and
// reports whether there was one.
func Identifier(ctx context.Context) (uint32, bool) {
	u, ok := ctx.Value(runKey{}).(*run)
	if !ok {
		return 0, false
	}
	return u.sent.opaque, u.sent.any
}

// end frees what the run holds.
func (u *run) end() {
	if u.cancel != nil {
		u.cancel()
	}
}

// Do runs an operation. It ends with an error when timeout has passed, unless it is 0, or when ctx ends. On success the
// result is in *result; otherwise it returns an *Error.
func (r *Runner) Do(ctx context.Context, timeout time.Duration, q *Request, result *Result) error {
	u := r.runs.Get().(*run)
	began := q.Began
	if began.IsZero() {
		began = time.Now()
	}
	u.caller, u.request, u.began = ctx, q, began
	u.bucket = q.bucket()
	if timeout > 0 {
		u.deadline = began.Add(timeout)
	}
	if d, ok := ctx.Deadline(); ok && (u.deadline.IsZero() || d.Before(u.deadline)) {
		u.deadline, u.byCaller = d, true
	}
	u.prepare()
	engine := r.engine
	if r.isObserved() {
		engine = r.observed
	}
	if err := u.do(engine); err != nil { //nolint:contextcheck // the run is the context of its operation
		return u.failed(err)
	}
	u.result(result)
	if !u.troubled && engine == r.engine { // otherwise a strategy or an observer may have kept it
		*u = run{runner: r, attempts: u.attempts}
		r.runs.Put(u)
	}
	return nil
}

// do makes the attempts. A panic of the application's strategy passes through.
func (u *run) do(engine *retry.Engine) error {
	defer u.end()
	q := u.request
	return engine.Do(u, retry.Operation{Strategy: q.Strategy, Name: q.Name, Data: q.Data, Effect: u.runner.effect(q)}, u.attempts)
}

func (q *Request) bucket() *cluster.Bucket {
	if q.Collection != nil {
		return q.Collection.Bucket()
	}
	return q.Bucket
}

var errNoBucketNamed = errors.New("operation: the request has neither a bucket nor a collection")
