package operation

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-db/holdfast/telemetry"
)

// Traced is an operation that a tracer was told of. It may need several commands.
type Traced struct {
	runner *Runner
	ctx    context.Context //nolint:containedctx // the one that the tracer made
	told   telemetry.Operation
	// sensitive means that a command of it may have had credentials.
	sensitive bool
}

// ErrPanicked is the error of an operation, for a tracer, that the application's code ended by a panic.
var ErrPanicked = errors.New("mongo: a function of the application panicked")

// Traces reports whether the client has a tracer.
func (r *Runner) Traces() bool { return r.cfg.Tracer != nil }

// Trace tells the tracer that an operation begins. It returns the context with which the operation goes on. Ends says that the operation ends the
// session's transaction.
func (r *Runner) Trace(ctx context.Context, name, database, collection string, s *Session, ends bool) (context.Context, *Traced) {
	t := &Traced{runner: r, told: telemetry.Operation{
		System: telemetry.MongoDB, Name: name, Namespace: database, Collection: about(database, collection), Began: time.Now(), Rows: -1,
		Transaction: r.traceTransaction(ctx, s, ends),
	}}
	return t.began(ctx), t
}

// TraceIn is [Runner.Trace] for an operation without a session, which began at a time. If the tracer is passive, the operation is in
// room, which the caller may use again when it has ended.
func (r *Runner) TraceIn(ctx context.Context, room *Traced, name, database, collection string, since time.Time) (context.Context, *Traced) {
	if !r.cfg.Tracer.Passive {
		room = new(Traced)
	}
	*room = Traced{runner: r, told: telemetry.Operation{
		System: telemetry.MongoDB, Name: name, Namespace: database, Collection: about(database, collection), Began: since, Rows: -1,
	}}
	return room.began(ctx), room
}

func (t *Traced) began(ctx context.Context) context.Context {
	t.ctx = began(t.runner, t.runner.cfg.Tracer.OperationBegan, ctx, &t.told)
	return t.ctx
}

// Told returns the operation as the tracer was told of it, nil if it was not.
func (t *Traced) Told() *telemetry.Operation {
	if t == nil {
		return nil
	}
	return &t.told
}

// about returns the collection that an operation is about, as the OpenTelemetry specification has it: none on the database admin.
func about(database, collection string) string {
	if database == "admin" {
		return ""
	}
	return collection
}

// Run runs the operation, and tells the tracer of its end. T may be nil: then it only runs it.
func (t *Traced) Run(f func() error) (err error) {
	if t == nil {
		return f()
	}
	err = ErrPanicked // until f returns
	defer func() { t.end(err) }()
	return f()
}

// countsRows reports whether somebody is told how many documents the replies have.
func (t *Traced) countsRows() bool { return t != nil && t.runner.cfg.Tracer.OperationEnded != nil }

func (t *Traced) addRows(n int) {
	if t != nil {
		t.told.Rows = max(0, t.told.Rows) + n
	}
}

func (t *Traced) end(err error) {
	if ended := t.runner.cfg.Tracer.OperationEnded; ended != nil {
		if err != nil {
			t.told.ErrorType = errorType(err)
			if t.sensitive {
				err = redacted(err)
			}
		}
		if !t.runner.cfg.Tracer.Passive {
			defer t.runner.cfg.Cluster.Listening().Add(-1)
		}
		ended(t.ctx, &t.told, err)
	}
}

// began calls a function that tells of a beginning, if there is one, and returns its context.
func began[T any](r *Runner, tell func(context.Context, T) context.Context, ctx context.Context, of T) context.Context {
	if tell == nil {
		return ctx
	}
	defer r.cfg.Cluster.Listening().Add(-1)
	if made := tell(ctx, of); made != nil {
		return made
	}
	return ctx
}

// tracedTransaction is what a tracer knows of a session's transaction.
type tracedTransaction struct {
	started time.Time
	ctx     context.Context //nolint:containedctx // the one that the tracer made; nil before the first operation
	ended   bool
}

// traceTransaction returns the context of the transaction that the next operation of a session is in, nil if it is in none. The first operation
// begins it for the tracer.
func (r *Runner) traceTransaction(ctx context.Context, s *Session, ends bool) context.Context {
	if s == nil || !ends && !s.TransactionRunning() {
		return nil
	}
	t := &s.transaction.traced
	if t.ctx == nil {
		t.ctx = began(r, r.cfg.Tracer.TransactionBegan, ctx, t.started)
	}
	return t.ctx
}

// TraceTransaction begins the transaction that was just started for the tracer, with a context of its own.
func (r *Runner) TraceTransaction(ctx context.Context, s *Session) {
	if r.Traces() {
		r.traceTransaction(ctx, s, false)
	}
}

// TransactionEnded tells the tracer, once, that the transaction was committed or aborted.
func (r *Runner) TransactionEnded(s *Session, commit bool, err error) {
	t := &s.transaction.traced
	if !r.Traces() || t.ctx == nil || t.ended {
		return
	}
	t.ended = true
	if ended := r.cfg.Tracer.TransactionEnded; ended != nil {
		defer r.cfg.Cluster.Listening().Add(-1)
		ended(t.ctx, commit, err)
	}
}
