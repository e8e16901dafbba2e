package mongo

import (
	"context"
	"fmt"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/retry"
)

// plainCommand is a command whose elements are the same on every server.
type plainCommand struct {
	elements []byte                             // the name first
	accept   func(reply *operation.Reply) error // nil if the reply has no result
	// needs is the name of an option that needs a server of wire version since. Empty means that there is none.
	needs  string
	since  int32
	ending ending
}

func (c *plainCommand) AppendTo(b []byte, attempt operation.Attempt) ([]byte, error) {
	if c.needs != "" && attempt.Server.MaxWireVersion < c.since {
		return nil, fmt.Errorf("mongo: %s needs a server of wire version %d, this one has %d",
			c.needs, c.since, attempt.Server.MaxWireVersion)
	}
	return c.ending.appendTo(append(b, c.elements...), attempt), nil
}

func (c *plainCommand) Accept(reply *operation.Reply) error {
	if c.accept != nil {
		if err := c.accept(reply); err != nil {
			return err
		}
	}
	return writeError(reply)
}

// read sets the fields of op, which must be empty, for a read with the read preference of s. The collection is empty if it is about none.
func (s *scope) read(op *operation.Operation, database, collection, name string, cmd operation.Command) {
	op.Name, op.Database, op.Collection, op.Command = name, database, collection, cmd
	op.Kind, op.Idempotency, op.Retryable = operation.Read, retry.ReadOnly, true
	op.Selection, op.ReadPreference, op.ReadConcern = s.reads, s.readPreference, &s.readConcern
}

// readPrimary sets the fields of op, which must be empty, for a read on the primary, without a read concern: the
// commands that list databases, collections and indexes.
func (c *Client) readPrimary(op *operation.Operation, database, collection, name string, cmd operation.Command) {
	op.Name, op.Database, op.Collection, op.Command = name, database, collection, cmd
	op.Kind, op.Idempotency, op.Retryable, op.Selection = operation.Read, retry.ReadOnly, true, c.writes
}

// define runs a command that creates or drops a database, a collection, a view or an index. It is retried for overload
// only. The collection is empty if it is about none.
func (db *Database) define(ctx context.Context, collection, name string, wc operation.WriteConcern, cmd *plainCommand) error {
	return db.client.run(ctx, &operation.Operation{
		Name: name, Database: db.name, Collection: collection, Command: cmd, Kind: operation.Write, Idempotency: retry.Idempotent,
		Selection: db.client.writes, WriteConcern: wc,
	})
}

// element returns the top-level element of a document with that key.
func element(doc []byte, key string) (wire.Element, bool) {
	for it := wire.Elements(doc); it.Next(); {
		if string(it.Key) == key {
			return it.Element, true
		}
	}
	return wire.Element{}, false
}
