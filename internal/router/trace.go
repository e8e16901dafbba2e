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
	ctx, op.Traced = c.router.runner.TraceIn(
		ctx, &f.traced, traceable(op.Name), op.Database, c.parser.traceableCollection(f.command), f.began)
	return ctx
}

// collectionOf returns the collection of a command, nil if it has none. It is the command's first value, but in a getMore.
func collectionOf(q *command) []byte {
	if q.Name == "getMore" {
		collection := field(q.Body, "collection")
		return collection.Text()
	}
	it := wire.Elements(q.Body)
	it.Next()
	return it.Text()
}

// longestName is the size in bytes of the longest name that a server accepts: of a collection, with its database.
const longestName = 255

// traceableCollection returns the collection of a command as a tracer may keep it: as a string that is there already, if it is that of the last one.
func (p *parser) traceableCollection(q *command) string {
	name := collectionOf(q)
	if len(name) > longestName {
		return ""
	}
	if p.collection != string(name) {
		p.collection = string(name)
	}
	return p.collection
}

// traceable returns a name as a tracer may keep it. One that no server accepts costs a client nothing, and has no bound.
func traceable(name string) string {
	if len(name) > longestName {
		return ""
	}
	return name
}
