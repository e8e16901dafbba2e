package operation

import (
	"context"

	"github.com/holdfast-db/holdfast/internal/base/retold"
	"github.com/holdfast-db/holdfast/retry"
)

// decisions tells a tracer what the engine decides.
type decisions struct{ runner *Runner }

var _ retry.Observer = decisions{}

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
	if t := r.op.Traced; t != nil && r.cfg.Tracer.Decided != nil {
		return context.WithValue(ctx, decidedKey{}, t)
	}
	return ctx
}
