package mongo

import (
	"context"
	"strings"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
)

// methodNames has the names of operations that are not those of their commands (OpenTelemetry specification, "Covered operations").
var methodNames = map[string]string{"create": "createCollection", "drop": "dropCollection"}

// traced runs an operation of one command, and tells the tracer of it.
func (c *Client) traced(ctx context.Context, op *operation.Operation) error {
	name := op.Name
	if method, ok := methodNames[name]; ok {
		name = method
	}
	if op.Kind == operation.Generic {
		name = "runCommand"
	}
	ctx, traced := c.runner.Trace(orBackground(ctx), name, op.Database, op.Collection, op.Session, op.EndsTransaction())
	op.Traced = traced
	return traced.Run(func() error { return c.runIn(ctx, op) })
}

// trace tells the tracer that an operation of several commands begins. It returns what runs the operation. Without a tracer that is nil.
func (coll *Collection) trace(ctx context.Context, name string) (context.Context, *operation.Traced) {
	c := coll.db.client
	if !c.runner.Traces() {
		return ctx, nil
	}
	ctx = orBackground(ctx)
	session, _ := c.sessionOf(ctx) // each command finds the error too
	return c.runner.Trace(ctx, name, coll.db.name, coll.name, session, false)
}

// tracedCollection returns the collection that the cursor's documents are from, for the tracer; empty if they are from none.
func (c *Cursor) tracedCollection() string {
	if strings.HasPrefix(c.collection, "$cmd.") {
		return ""
	}
	return c.collection
}
