package operation

import (
	"context"

	"github.com/holdfast-db/holdfast/internal/base/retold"
	"github.com/holdfast-db/holdfast/retry"
)

// decisions tells a tracer what the engine decides.
type decisions struct{ runner *Runner }

var _ retry.FailureObserver = decisions{}

// OnlyFailures implements [retry.FailureObserver].
func (decisions) OnlyFailures() {}

// Observe implements [retry.Observer].
func (d decisions) Observe(ctx context.Context, e retry.Event) {
	decision := retold.Decision(&e)
	if decision == nil {
		return
	}
	t, _ := ctx.Value(decidedKey{}).(*Traced)
	decision.Operation = t.Told()
	if sensitiveCommand(e.Name) {
		decision.Err = redacted(decision.Err)
	}
	defer d.runner.cfg.Cluster.Listening().Add(-1)
	d.runner.cfg.Tracer.Decided(ctx, decision)
}

type decidedKey struct{}

// decided returns the context of an operation by which decisions finds it.
func (r *run) decided(ctx context.Context) context.Context {
	t := r.op.Traced
	switch {
	case t == nil || r.cfg.Tracer.Decided == nil:
		return ctx
	case r.recycles:
		r.telling = decidedContext{ctx, t}
		return &r.telling
	}
	return &decidedContext{ctx, t}
}

// decidedContext is the context of an operation that tracers were told of.
type decidedContext struct {
	context.Context //nolint:containedctx // it is a context itself
	traced          *Traced
}

// Value implements [context.Context].
func (c *decidedContext) Value(key any) any {
	if key == (decidedKey{}) {
		return c.traced
	}
	return c.Context.Value(key)
}
