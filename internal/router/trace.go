package router

import (
	"context"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// trace tells the tracer, if there is one, of a client's operation.
func (c *client) trace(ctx context.Context, f *forwarded) context.Context {
	if !c.router.runner.Traces() {
		return ctx
	}
	op := &f.op
	ctx, op.Traced = c.router.runner.Trace(
		ctx, traceable(op.Name), traceable(op.Database), traceable(collectionOf(f.command)), nil, false)
	return ctx
}

// collectionOf returns the collection of a command, "" if it has none. It is the command's first value, but in a getMore.
func collectionOf(q *command) string {
	if q.Name == "getMore" {
		collection := field(q.Body, "collection")
		return string(collection.Text())
	}
	it := wire.Elements(q.Body)
	it.Next()
	return string(it.Text())
}

// longestName is the size in bytes of the longest name that a server accepts: of a collection, with its database.
const longestName = 255

// traceable returns a name as a tracer may keep it. One that no server accepts costs a client nothing, and has no bound.
func traceable(name string) string {
	if len(name) > longestName {
		return ""
	}
	return name
}
