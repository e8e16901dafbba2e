package couchbase

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-db/holdfast/telemetry"
)

// traced is an operation of which the application's tracer is told. All methods can be called on nil: then nobody is told.
type traced struct {
	tracer *telemetry.Tracer
	ctx    context.Context // the one that the tracer made
	told   telemetry.Operation
	// running means that the engine runs it. If it still does when the operation ends, a function of the application has panicked.
	running bool
}

// errPanicked is the error of an operation, for a tracer, that the application's code ended by a panic.
var errPanicked = errors.New("couchbase: a function of the application panicked")

// trace tells a tracer that an operation begins.
func trace(ctx context.Context, t *telemetry.Tracer, in clusterLabels, o telemetry.Operation) *traced {
	o.System, o.Began, o.Rows, o.Cluster, o.ClusterUUID = telemetry.Couchbase, time.Now(), -1, in.name, in.uuid
	op := &traced{tracer: t, told: o}
	op.ctx = began(ctx, t.OperationBegan, &op.told)
	return op
}

// trace tells the application's tracer that the operation begins, if there is one.
func (c *kvCall) trace() {
	cl := c.collection.bucket.cluster
	if cl.tracer == nil {
		return
	}
	ctx := c.options.ctx
	if ctx == nil {
		ctx = context.Background()
	}
	c.traced = trace(ctx, cl.tracer, cl.clusterLabels(), telemetry.Operation{
		Name: c.kind.name, Namespace: c.collection.bucket.name, Scope: c.collection.scope, Collection: c.collection.name, Service: kvService,
		Durability: c.durability.name(),
	})
}

// began calls a function that tells of a beginning, if there is one, and returns its context.
func began[T any](ctx context.Context, tell func(context.Context, T) context.Context, of T) context.Context {
	if tell != nil {
		if made := tell(ctx, of); made != nil {
			return made
		}
	}
	return ctx
}

// kvService is the name of the key-value service, for a tracer.
const kvService = "kv"

type tracedKey struct{}

// run returns the context in which the engine runs the operation: by it attempts and decisions find the operation. It tells of these until
// returned is called.
func (t *traced) run() context.Context {
	t.running = true
	return context.WithValue(t.ctx, tracedKey{}, t)
}

// returned notes that the engine has returned.
func (t *traced) returned() {
	if t != nil {
		t.running = false
	}
}

// tracedIn returns the operation that runs in a context, nil if there is none.
func tracedIn(ctx context.Context) *traced {
	t, _ := ctx.Value(tracedKey{}).(*traced)
	return t
}

// ended tells of the end of the operation, with the error that the application gets. It is deferred.
func (t *traced) ended(err *error) {
	if t != nil {
		t.end(*err)
	}
}

func (t *traced) end(err error) {
	if t == nil || t.tracer.OperationEnded == nil {
		return
	}
	if t.running {
		err = errPanicked
	}
	if err != nil {
		t.told.ErrorType = errorType(err)
	}
	t.tracer.OperationEnded(t.ctx, &t.told, shown(err))
}

// encode encodes a value, and tells of it. If that fails, or panics, the operation has ended.
func (t *traced) encode(f func() error) (err error) {
	if t == nil {
		return f()
	}
	err = errPanicked
	defer func() {
		if err != nil {
			t.end(hideEncoding(err))
		}
	}()
	err = t.tellEncoding(f)
	return err
}

func (t *traced) tellEncoding(f func() error) (err error) {
	ctx := began(t.ctx, t.tracer.EncodingBegan, &t.told)
	err = errPanicked
	defer func() {
		if t.tracer.EncodingEnded != nil {
			t.tracer.EncodingEnded(ctx, &t.told, hideEncoding(err))
		}
	}()
	return f()
}
