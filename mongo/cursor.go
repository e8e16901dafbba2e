package mongo

import (
	"bytes"
	"context"
	"fmt"
	"reflect"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// Cursor walks the documents of a query. Its batches come from the server that answered the query. It is not safe for
// concurrent use.
type Cursor struct {
	// Current is the document that Next went to. It is valid until the next call of Next.
	Current bson.Raw

	client         *Client
	codec          codec
	readPreference *readpref.ReadPref

	id         int64
	database   string // of the cursor on its server, as collection
	collection string
	session    *operation.Session
	pin        operation.Pin
	batch      wire.Iterator
	left       int
	batchSize  int32
	remaining  int64 // of the limit; 0 means no limit
	comment    any
	err        error
	closed     bool
}

// newCursor returns a cursor for the result of a command on a database, or on one of its collections. The session is not
// the cursor's to end if the application has started it; nil means an implicit one.
func newCursor(db *Database, collection string, s scope, session *operation.Session) *Cursor {
	if session == nil {
		session = db.client.runner.ImplicitSession()
	}
	return &Cursor{
		client: db.client, codec: s.codec, readPreference: s.readPreference, database: db.name, collection: collection,
		session: session,
	}
}

// open runs the command whose reply has the cursor; its Accept calls accept.
func (c *Cursor) open(ctx context.Context, op *operation.Operation) error {
	op.Session, op.Pin = c.session, &c.pin
	err := c.client.run(ctx, op)
	if err != nil {
		c.id = 0
	}
	c.releaseIfDone()
	return err
}

// accept reads a batch from the reply of the command that opened the cursor, or of a getMore.
func (c *Cursor) accept(reply *operation.Reply) error {
	r, err := reply.ReadCursor()
	if err != nil {
		return fmt.Errorf("mongo: %w", err)
	}
	c.id = r.ID
	if database, collection, ok := bytes.Cut(r.Namespace, []byte(".")); ok {
		if string(database) != c.database || string(collection) != c.collection {
			c.database, c.collection = string(database), string(collection)
		}
	}
	c.setBatch(append([]byte(nil), r.Batch...))
	return nil
}

func (c *Cursor) setBatch(batch []byte) {
	c.batch = wire.Elements(batch)
	c.left = 0
	for it := c.batch; it.Next(); {
		c.left++
	}
	if c.remaining > 0 {
		c.remaining -= int64(c.left)
	}
}

// releaseIfDone gives back what the cursor holds once its server holds it no more.
func (c *Cursor) releaseIfDone() {
	if c.id == 0 {
		c.session.Release()
		c.pin.Release()
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
func (c *Cursor) Decode(v any) error { return c.codec.unmarshal(c.Current, v) }

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
	defer c.releaseIfDone()
	if c.id == 0 || c.pin.Lost() {
		c.id = 0
		return nil
	}
	err := c.client.run(ctx, c.operation("killCursors", &killCursorsCommand{cursor: c}))
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
