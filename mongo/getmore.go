package mongo

import (
	"context"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/retry"
)

// operation returns a getMore or killCursors operation, with the cursor's server and session. It is retried for
// overload only.
func (c *Cursor) operation(name string, cmd operation.Command) *operation.Operation {
	return &operation.Operation{
		Name: name, Database: c.database, Collection: c.tracedCollection(), Command: cmd, Kind: operation.Read, Idempotency: retry.NotIdempotent,
		Session: c.session, Pin: &c.pin, ReadPreference: c.readPreference, Traced: c.traced,
	}
}

func (c *Cursor) getMore(ctx context.Context) error {
	op := c.operation("getMore", &getMoreCommand{cursor: c})
	op.OwnTimeLimit, op.AwaitTime, op.LargeReply = true, c.awaitTime, c.memory()
	if !c.deadline.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(orBackground(ctx), c.deadline)
		defer cancel()
	}
	if err := c.client.run(ctx, op); err != nil {
		return err
	}
	c.releaseIfDone()
	return nil
}

type getMoreCommand struct{ cursor *Cursor }

func (g *getMoreCommand) AppendTo(b []byte, attempt operation.Attempt) ([]byte, error) {
	c := g.cursor
	c.wireVersion = attempt.Server.MaxWireVersion
	b = wire.AppendInt64(b, "getMore", c.id)
	b = wire.AppendString(b, "collection", c.collection)
	if n := c.nextBatchSize(); n > 0 {
		b = wire.AppendInt32(b, "batchSize", n)
	}
	if attempt.Server.MaxWireVersion < commentWireVersion {
		return b, nil
	}
	return append(b, c.comment.b...), c.comment.err
}

func (g *getMoreCommand) Accept(reply *operation.Reply) error { return g.cursor.accept(reply) }

const commentWireVersion = 9 // MongoDB 4.4: since then getMore has a comment

// nextBatchSize returns the batch size, but at most the number of documents that the limit still allows.
func (c *Cursor) nextBatchSize() int32 {
	if c.remaining > 0 && (c.batchSize == 0 || c.remaining < int64(c.batchSize)) {
		return int32(min(c.remaining, 1<<31-1))
	}
	return c.batchSize
}

// kill closes the cursor on its server.
func (c *Cursor) kill(ctx context.Context) error {
	return c.client.run(ctx, c.operation("killCursors", &killCursorsCommand{cursor: c}))
}

type killCursorsCommand struct{ cursor *Cursor }

func (k *killCursorsCommand) AppendTo(b []byte, _ operation.Attempt) ([]byte, error) {
	b = wire.AppendString(b, "killCursors", k.cursor.collection)
	at, b := wire.BeginArray(b, "cursors")
	b = wire.AppendInt64(b, "0", k.cursor.id)
	return wire.EndDocument(b, at), nil
}

func (k *killCursorsCommand) Accept(*operation.Reply) error { return nil }
