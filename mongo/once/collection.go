package once

import (
	"cmp"
	"context"
	"reflect"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/retry"
)

// Collection applies writes to a collection exactly once. It is safe for concurrent use.
type Collection struct {
	source   source
	engine   *retry.Engine
	field    string
	finished int
	unique   []string
	registry *bson.Registry // of the arguments; nil is that of package bson
}

// New returns a Collection. It does not use the network.
func New[C Cursor](collection Source[C], o Options) (*Collection, error) {
	if v := reflect.ValueOf(collection); collection == nil || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, errNoSource
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	strategy := o.Strategy
	if strategy == nil {
		strategy = retry.Overload(1, retry.RetryOnce())
	}
	engine, err := retry.New(retry.Options{Strategy: strategy, Observer: o.Observer})
	if err != nil {
		return nil, err
	}
	return &Collection{
		source: sourceOf[C]{collection}, engine: engine, unique: slices.Clone(o.UniqueKeys), registry: o.Registry,
		field: cmp.Or(o.Field, defaultField), finished: cmp.Or(o.Finished, defaultFinished),
	}, nil
}

// orBackground replaces a nil context, as the clients do.
func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

// repeat runs a command that does no harm the second time, and returns how many attempts were made.
func (c *Collection) repeat(ctx context.Context, name string, command func(ctx context.Context) error) (attempts int, err error) {
	err = c.engine.Do(orBackground(ctx), retry.Operation{Name: name, Idempotency: retry.Idempotent}, func(ctx context.Context, n int) retry.Failure {
		if ctx.Err() != nil {
			return retry.Failure{Err: context.Cause(ctx), Stage: retry.StageBeforeSending}
		}
		attempts = n + 1
		return failureOf(ctx, command(ctx))
	})
	return attempts, err
}

// The lists of a document, and the fields of its tokens, are below the collection's field.
func (c *Collection) pending() string   { return c.field + ".pending" }
func (c *Collection) pendingID() string { return c.field + ".pending.id" }
func (c *Collection) pendingAt() string { return c.field + ".pending.at" }
func (c *Collection) done() string      { return c.field + ".finished" }
func (c *Collection) given() string     { return c.field + ".abandoned" } // their conditions did not hold
func (c *Collection) refused() string   { return c.field + ".refused" }   // by their document

// newest is the argument of $push that adds an id to a list and keeps the newest ones.
func (c *Collection) newest(id bson.ObjectID) bson.D {
	return bson.D{{Key: "$each", Value: bson.A{id}}, {Key: "$slice", Value: -c.finished}}
}
