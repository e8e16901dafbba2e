package mongo

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/internal/mongo/largebuffer"
	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// Cursor iterates over the documents that a query found. It gets its batches from the server of the query. It is not
// safe for concurrent use.
type Cursor struct {
	// Current is the current document. It is valid until the next call of Next.
	Current bson.Raw

	client         *Client
	codec          codec
	decode         func(doc []byte, v any) error // made by the first Decode
	readPreference *readpref.ReadPref

	id         int64
	database   string // the database and collection in the cursor's namespace on its server
	collection string
	session    *operation.Session
	pin        operation.Pin
	batch      wire.Iterator
	unread     int // documents of the batch that Next has not returned yet
	batchSize  int32
	remaining  int64         // documents that the limit still allows; 0 means no limit
	comment    extras        // of getMore commands
	awaitTime  time.Duration // maxTimeMS of getMore commands; 0 means none
	deadline   time.Time     // of all getMore commands together; zero means none
	// wireVersion is the largest wire version of the connection that the latest command for a batch was sent on.
	wireVersion int32
	tailable    bool
	token       bson.Raw // the postBatchResumeToken of the batch, of a change stream
	// passing means that no document is used after the next one. Then the memory of large replies is used again.
	passing bool
	buffer  []byte // of the latest reply, nil if the batch is a copy
	// keepsSession means that the session lives longer than the cursor: that of a change stream.
	keepsSession bool
	err          error
	closed       bool
	traced       *operation.Traced // the operation that the cursor is a part of; nil for a cursor of the application
}

// newCursor returns a cursor for the result of a command on a database or on one of its collections. Its session is that
// of ctx or, without one, an implicit one, which ends with the cursor. open returns the error of a session that cannot be
// used.
func newCursor(ctx context.Context, db *Database, collection string, s scope) *Cursor {
	session, err := db.client.sessionOf(ctx)
	if session == nil {
		session = db.client.runner.ImplicitSession()
	}
	return &Cursor{
		client: db.client, codec: s.codec, readPreference: s.readPreference, database: db.name, collection: collection,
		session: session, err: err,
	}
}

// open runs the command whose reply has the cursor. The Accept of the command calls accept.
func (c *Cursor) open(ctx context.Context, op *operation.Operation) error {
	if c.err != nil {
		return c.err
	}
	op.Session, op.Pin = c.session, &c.pin
	opened := false
	defer c.opening(&opened)
	err := c.client.run(ctx, op)
	opened = err == nil
	return err
}

// opening is deferred by a function that opens the cursor, and runs also if the application's code panics.
func (c *Cursor) opening(opened *bool) {
	if !*opened {
		c.id = 0
	}
	c.releaseIfDone()
}

// accept reads a batch from the reply of the first command or of a getMore.
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
	c.token = append(bson.Raw(nil), r.ResumeToken...)
	c.setBatch(c.kept(r.Batch))
	return nil
}

// kept returns what remains of a batch after the operation: a copy, unless the cursor has the memory of the reply.
func (c *Cursor) kept(batch []byte) []byte {
	if c.buffer != nil {
		return batch
	}
	return append([]byte(nil), batch...)
}

// memory is where an operation finds and leaves the memory of large replies, nil if it is not used again.
func (c *Cursor) memory() *[]byte {
	if !c.passing {
		return nil
	}
	return &c.buffer
}

// recycle gives up the memory of the batch.
func (c *Cursor) recycle() {
	largebuffer.Put(c.buffer)
	c.buffer = nil
}

func (c *Cursor) setBatch(batch []byte) {
	c.batch = wire.Elements(batch)
	c.unread = 0
	for it := c.batch; it.Next(); {
		c.unread++
	}
	if c.remaining > 0 {
		c.remaining -= int64(c.unread)
	}
}

// releaseIfDone releases the session and the pin if the server has closed the cursor.
func (c *Cursor) releaseIfDone() {
	if c.id != 0 {
		return
	}
	if c.session != nil && !c.keepsSession {
		defer c.session.Release() // also if a listener panics
	}
	c.pin.Release()
}

// ID returns the cursor's id on its server, 0 if the server has closed the cursor.
func (c *Cursor) ID() int64 { return c.id }

// Next moves to the next document, which is Current then. It requests the next batch if necessary; on a tailable cursor
// it requests batches until one has a document, or ctx ends. It returns false at the end and after an error, which Err
// returns. A batch that could not be read is not requested again (Retryable Reads: getMore is not retryable).
func (c *Cursor) Next(ctx context.Context) bool { return c.next(ctx, false) }

// TryNext is Next with at most one request. If it returns false and Err returns nil, a tailable cursor can have documents
// later, as long as its ID is not 0.
func (c *Cursor) TryNext(ctx context.Context) bool { return c.next(ctx, true) }

func (c *Cursor) next(ctx context.Context, once bool) bool {
	if c.tailable {
		var cancel context.CancelFunc
		ctx, cancel = c.client.withTimeout(ctx) // one timeout for all requests of this call
		defer cancel()
	}
	for !c.closed && c.err == nil {
		if c.advance() {
			return true
		}
		if c.err != nil || c.id == 0 {
			return false
		}
		if c.err = c.getMore(ctx); once && c.unread == 0 {
			return false
		}
	}
	return false
}

func (c *Cursor) advance() bool {
	if !c.batch.Next() {
		c.err = c.batch.Err
		return false
	}
	c.unread--
	c.Current = c.batch.Document()
	if c.Current == nil {
		c.err = fmt.Errorf("mongo: a cursor's batch has an element of type %s instead of a document", c.batch.Type)
		return false
	}
	return true
}

// Decode decodes the current document into v, which must be a non-nil pointer.
func (c *Cursor) Decode(v any) error {
	if c.decode == nil {
		c.decode = c.codec.decoder()
	}
	return c.decode(c.Current, v)
}

// Err returns the error that ended the iteration, nil if there was none.
func (c *Cursor) Err() error { return c.err }

// RemainingBatchLength returns the number of documents in the current batch that Next has not returned yet.
func (c *Cursor) RemainingBatchLength() int { return c.unread }

// SetBatchSize sets the largest number of documents in each of the next batches. 0 means that the server chooses.
func (c *Cursor) SetBatchSize(n int32) { c.batchSize = n }

// SetMaxAwaitTime sets how long the server waits for new documents before it returns an empty batch. It is for tailable
// cursors that await data; servers refuse it for others. 0 means that the server chooses. A negative time counts as 0.
func (c *Cursor) SetMaxAwaitTime(d time.Duration) { c.awaitTime = max(d, 0) }

// SetComment sets the comment of the next getMore commands. If it cannot be encoded, they fail.
func (c *Cursor) SetComment(comment any) {
	c.comment = extras{codec: c.codec}
	c.comment.value("comment", comment)
}

// Close closes the cursor here and on its server. It may be called more than once.
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
	err := c.kill(ctx)
	c.id = 0
	return err
}
