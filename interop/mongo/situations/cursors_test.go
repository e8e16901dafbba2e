package situations

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// steps are what a program does with a cursor. Each returns what it sees.
type step struct {
	name string
	do   func(context.Context, *mongo.Cursor) any
}

func cancelled(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx
}

var (
	next       = step{"Next", func(ctx context.Context, c *mongo.Cursor) any { return c.Next(ctx) }}
	tryNext    = step{"TryNext", func(ctx context.Context, c *mongo.Cursor) any { return c.TryNext(ctx) }}
	nextEnded  = step{"Next with a cancelled context", func(ctx context.Context, c *mongo.Cursor) any { return c.Next(cancelled(ctx)) }}
	nextNil    = step{"Next with a nil context", func(_ context.Context, c *mongo.Cursor) any { return c.Next(nil) }} //nolint:staticcheck // nil is tested
	closes     = step{"Close", func(ctx context.Context, c *mongo.Cursor) any { return textOf(c.Close(ctx)) }}
	closesNil  = step{"Close with a nil context", func(_ context.Context, c *mongo.Cursor) any { return textOf(c.Close(nil)) }} //nolint:staticcheck // nil is tested
	closeEnded = step{"Close with a cancelled context", func(ctx context.Context, c *mongo.Cursor) any { return textOf(c.Close(cancelled(ctx))) }}
	decodes    = step{"Decode", func(_ context.Context, c *mongo.Cursor) any {
		var d bson.D
		err := c.Decode(&d)
		return fmt.Sprint(show(d), textOf(err))
	}}
	decodesNil = step{"Decode to nil", func(_ context.Context, c *mongo.Cursor) any { return textOf(c.Decode(nil)) }}
	readsAll   = step{"All", func(ctx context.Context, c *mongo.Cursor) any {
		var ds []bson.D
		err := c.All(ctx, &ds)
		return fmt.Sprint(len(ds), textOf(err))
	}}
	allNil    = step{"All to nil", func(ctx context.Context, c *mongo.Cursor) any { return describe(c.All(ctx, nil)) }}
	allNumber = step{"All to a number", func(ctx context.Context, c *mongo.Cursor) any { n := 1; return describe(c.All(ctx, &n)) }}
	allValue  = step{"All to a slice, not a pointer", func(ctx context.Context, c *mongo.Cursor) any { return describe(c.All(ctx, []bson.D{})) }}
	allEnded  = step{"All with a cancelled context", func(ctx context.Context, c *mongo.Cursor) any {
		var ds []bson.D
		return describe(c.All(cancelled(ctx), &ds))
	}}
	allFull = step{"All to a slice with elements", func(ctx context.Context, c *mongo.Cursor) any {
		ds := make([]bson.D, 6) // All writes into the elements
		for i := range ds {
			ds[i] = slices.Clone(x)
		}
		err := c.All(ctx, &ds)
		return fmt.Sprint(len(ds), textOf(err))
	}}
	errs      = step{"Err", func(_ context.Context, c *mongo.Cursor) any { return describe(c.Err()) }}
	id        = step{"ID", func(_ context.Context, c *mongo.Cursor) any { return c.ID() == 0 }}
	current   = step{"Current", func(_ context.Context, c *mongo.Cursor) any { return show(c.Current) }}
	remaining = step{"RemainingBatchLength", func(_ context.Context, c *mongo.Cursor) any { return c.RemainingBatchLength() }}
	settings  = step{"settings", func(_ context.Context, c *mongo.Cursor) any {
		c.SetBatchSize(1)
		c.SetComment("note")
		c.SetMaxAwaitTime(time.Second)
		return nil
	}}
	oddSettings = step{"odd settings", func(_ context.Context, c *mongo.Cursor) any {
		c.SetBatchSize(-1)
		c.SetComment(func() {})
		c.SetMaxAwaitTime(-time.Second)
		return nil
	}}
)

var cursorLives = [][]step{
	{next, next, next, next, next, errs, id},
	{remaining, next, remaining, next, remaining},
	{decodes, current, next, decodes, current, decodesNil},
	{next, closes, next, decodes, current, errs, id, closes, remaining},
	{closes, readsAll, errs},
	{next, closes, readsAll},
	{closes, tryNext, next},
	{closesNil, closesNil},
	{closeEnded, next},
	{nextEnded, errs, next, errs, readsAll},
	{next, next, nextEnded, errs, next, errs},
	{nextNil, nextNil, nextNil, errs},
	{readsAll, readsAll, next, errs, id},
	{next, readsAll},
	{allNil, readsAll},
	{allNumber, readsAll},
	{allValue, readsAll},
	{allEnded, errs, readsAll},
	{allFull},
	{tryNext, tryNext, tryNext, tryNext, errs},
	{settings, next, next, next, next},
	{oddSettings, next, next, next, errs},
	{next, next, next, next, decodes, current, errs},
}

// cursorSituations play each life with a cursor of three documents in batches of two, and with one of a single batch.
func cursorSituations() []situation {
	var list []situation
	for _, life := range cursorLives {
		name := ""
		for _, s := range life {
			name += ", " + s.name
		}
		for _, batch := range []int32{2, 100} {
			list = append(list, situation{name: fmt.Sprintf("a cursor with batches of %d%s", batch, name), do: func(ctx context.Context, w *world) (any, error) {
				c, err := w.coll.Find(ctx, none, options.Find().SetBatchSize(batch))
				return live(ctx, c, life), err
			}})
		}
		list = append(list, situation{name: "a cursor from documents" + name, do: func(ctx context.Context, _ *world) (any, error) {
			c, err := mongo.NewCursorFromDocuments([]any{x, x, x}, nil, nil)
			return live(ctx, c, life), err
		}}, situation{name: "a cursor from documents with an error" + name, do: func(ctx context.Context, _ *world) (any, error) {
			c, err := mongo.NewCursorFromDocuments([]any{x}, errors.New("given"), nil)
			return live(ctx, c, life), err
		}})
	}
	return list
}

func live(ctx context.Context, c *mongo.Cursor, life []step) []string {
	if c == nil {
		return []string{"no cursor"}
	}
	var seen []string
	for _, s := range life {
		seen = append(seen, fmt.Sprintf("%s: %v", s.name, s.guarded(ctx, c)))
	}
	return seen
}

func (s step) guarded(ctx context.Context, c *mongo.Cursor) (seen any) {
	defer func() {
		if p := recover(); p != nil {
			seen = fmt.Sprintf("panic: %v", p)
		}
	}()
	return s.do(ctx, c)
}
