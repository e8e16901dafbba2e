package mongo

import (
	"context"
	"fmt"
	"reflect"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/retry"
)

// Cursor walks the documents of a query. Its batches come from the server that answered the query. It is not safe for
// concurrent use.
type Cursor struct {
	// Current is the document that Next went to. It is valid until the next call of Next.
	Current bson.Raw

	coll      *Collection
	id        int64
	server    *cluster.Server
	session   *operation.Session
	batch     wire.Iterator
	left      int
	batchSize int32
	remaining int64 // of the limit; 0 means no limit
	comment   any
	err       error
	closed    bool
}

func newCursor(cmd *findCommand, o *options.FindOptions) *Cursor {
	c := &Cursor{
		coll: cmd.coll, id: cmd.id, server: cmd.server, session: cmd.op.Session, batchSize: valueOr(o.BatchSize, 0),
		comment: o.Comment,
	}
	if limit := valueOr(o.Limit, 0); limit > 0 {
		c.remaining = limit
	}
	c.take(cmd.batch)
	c.finishSession()
	return c
}

func (c *Cursor) take(batch []byte) {
	c.batch = wire.Elements(batch)
	c.left = 0
	for it := c.batch; it.Next(); {
		c.left++
	}
	if c.remaining > 0 {
		c.remaining -= int64(c.left)
	}
}

// finishSession ends the implicit session once the server holds no cursor any more.
func (c *Cursor) finishSession() {
	if c.id == 0 && c.session != nil {
		c.coll.db.client.runner.EndSession(c.session)
		c.session = nil
	}
}

// ID returns the cursor's id on its server, 0 when the server holds it no more.
func (c *Cursor) ID() int64 { return c.id }

// Next goes to the next document, fetching the next batch if need be. It returns false at the end and on an error,
// which Err returns. A batch that cannot be fetched is not asked for again.
func (c *Cursor) Next(ctx context.Context) bool {
	for !c.closed && c.err == nil {
		if c.advance() {
			return true
		}
		if c.err != nil || c.id == 0 {
			return false
		}
		c.err = c.getMore(ctx)
	}
	return false
}

// TryNext is Next for a cursor that does not wait for documents to come: they are the same on one that ends.
func (c *Cursor) TryNext(ctx context.Context) bool { return c.Next(ctx) }

func (c *Cursor) advance() bool {
	if !c.batch.Next() {
		c.err = c.batch.Err
		return false
	}
	c.left--
	c.Current = c.batch.Document()
	if c.Current == nil {
		c.err = fmt.Errorf("mongo: a cursor's batch holds a %s where a document was due", c.batch.Type)
		return false
	}
	return true
}

// Decode decodes the current document into v, which must be a pointer.
func (c *Cursor) Decode(v any) error { return c.coll.scope.codec.unmarshal(c.Current, v) }

// Err returns the error that ended the iteration, nil if it just ended.
func (c *Cursor) Err() error { return c.err }

// RemainingBatchLength returns how many documents are left of the batch in hand.
func (c *Cursor) RemainingBatchLength() int { return c.left }

// SetBatchSize changes how many documents the next batches have.
func (c *Cursor) SetBatchSize(n int32) { c.batchSize = n }

// SetComment changes the comment that the next batches are asked with.
func (c *Cursor) SetComment(comment any) { c.comment = comment }

// Close lets the server forget the cursor. It may be called more than once.
func (c *Cursor) Close(ctx context.Context) error {
	if c.closed {
		return nil
	}
	c.closed = true
	defer c.finishSession()
	if c.id == 0 {
		return nil
	}
	op := c.operation("killCursors", &killCursorsCommand{cursor: c})
	err := c.coll.db.client.run(ctx, op)
	c.id = 0
	return err
}

// All decodes all documents that are left into results, a pointer to a slice, and closes the cursor.
func (c *Cursor) All(ctx context.Context, results any) error {
	pointer := reflect.ValueOf(results)
	if pointer.Kind() != reflect.Pointer || pointer.Elem().Kind() != reflect.Slice {
		return fmt.Errorf("mongo: Cursor.All wants a pointer to a slice, not a %T", results)
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	slice := pointer.Elem()
	slice.SetLen(0)
	for c.Next(ctx) {
		element := reflect.New(slice.Type().Elem())
		if err := c.Decode(element.Interface()); err != nil {
			return err
		}
		slice.Set(reflect.Append(slice, element.Elem()))
	}
	return c.Err()
}

// operation describes a command about the cursor: it goes to its server, in its session, and is not retried.
func (c *Cursor) operation(name string, cmd operation.Command) *operation.Operation {
	return &operation.Operation{
		Name: name, Database: c.coll.db.name, Command: cmd, Kind: operation.Read, Effect: retry.EffectNotIdempotent,
		Server: c.server, Session: c.session, ReadPreference: c.coll.scope.readPreference,
	}
}

func (c *Cursor) getMore(ctx context.Context) error {
	cmd := &getMoreCommand{cursor: c}
	if err := c.coll.db.client.run(ctx, c.operation("getMore", cmd)); err != nil {
		return err
	}
	c.id = cmd.id
	c.take(cmd.batch)
	c.finishSession()
	return nil
}

type getMoreCommand struct {
	cursor *Cursor
	id     int64
	batch  []byte
}

func (g *getMoreCommand) AppendTo(b []byte, server *topology.Server) ([]byte, error) {
	c := g.cursor
	b = wire.AppendInt64(b, "getMore", c.id)
	b = wire.AppendString(b, "collection", c.coll.name)
	if n := c.nextBatchSize(); n > 0 {
		b = wire.AppendInt32(b, "batchSize", n)
	}
	if c.comment == nil || server.MaxWireVersion < commentWireVersion {
		return b, nil
	}
	x := extras{b: b, codec: c.coll.scope.codec}
	x.value("comment", c.comment)
	return x.b, x.err
}

const commentWireVersion = 9 // MongoDB 4.4 is the first whose getMore takes a comment

// nextBatchSize asks for no more than the limit leaves.
func (c *Cursor) nextBatchSize() int32 {
	if c.remaining > 0 && (c.batchSize == 0 || c.remaining < int64(c.batchSize)) {
		return int32(min(c.remaining, 1<<31-1))
	}
	return c.batchSize
}

func (g *getMoreCommand) Accept(reply *operation.Reply) error {
	id, batch, err := cursorOf(reply, "nextBatch")
	if err != nil {
		return err
	}
	g.id, g.batch = id, append([]byte(nil), batch...)
	return nil
}

type killCursorsCommand struct{ cursor *Cursor }

func (k *killCursorsCommand) AppendTo(b []byte, _ *topology.Server) ([]byte, error) {
	b = wire.AppendString(b, "killCursors", k.cursor.coll.name)
	at, b := wire.BeginArray(b, "cursors")
	b = wire.AppendInt64(b, "0", k.cursor.id)
	return wire.EndDocument(b, at), nil
}

func (k *killCursorsCommand) Accept(*operation.Reply) error { return nil }
