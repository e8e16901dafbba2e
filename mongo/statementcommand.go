package mongo

import (
	"context"
	"errors"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/retry"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// statementCommand is an update or delete command with one statement.
type statementCommand struct {
	writeCommand

	n, modified int64
	upserted    any
	hasUpserted bool
}

func (c *statementCommand) AppendTo(b []byte, attempt operation.Attempt) ([]byte, error) {
	if limit := int(attempt.Server.MaxDocumentSize); limit > 0 && len(c.statements) > limit+c.kind.margin {
		refused := tooLarge{subject: "the " + c.kind.command + " statement", size: len(c.statements), limit: limit}
		return nil, WriteException{WriteErrors: WriteErrors{refused.writeError()}}
	}
	return c.appendTo(b, attempt)
}

func (c *statementCommand) Accept(reply *operation.Reply) error {
	c.n, c.modified, c.upserted, c.hasUpserted = reply.N, reply.NModified, nil, false
	err := eachUpserted(reply.Upserted, func(_ int64, id any) { c.upserted, c.hasUpserted = id, true })
	if err != nil {
		return err
	}
	return writeError(reply)
}

// eachUpserted calls f for each element of a reply's array upserted.
func eachUpserted(array []byte, f func(index int64, id any)) error {
	if array == nil {
		return nil
	}
	each := wire.Elements(array)
	for each.Next() {
		var index int64
		var id any
		it := wire.Elements(each.Document())
		for it.Next() {
			switch string(it.Key) {
			case "index":
				index, _ = it.Int64()
			case "_id":
				if err := (bson.RawValue{Type: it.Type, Value: it.Value}).Unmarshal(&id); err != nil {
					return err
				}
			}
		}
		if it.Err != nil {
			return it.Err
		}
		f(index, id)
	}
	return each.Err
}

// updateResult runs the command and returns the result of an update.
func (c *statementCommand) updateResult(ctx context.Context, idempotency retry.Idempotency) (*UpdateResult, error) {
	err := c.run(ctx, c, idempotency)
	r := &UpdateResult{
		MatchedCount: c.n, ModifiedCount: c.modified, UpsertedID: c.upserted,
		Acknowledged: acknowledged(ctx, c.coll.scope.writeConcern),
	}
	if c.hasUpserted {
		r.MatchedCount, r.UpsertedCount = r.MatchedCount-1, 1
	}
	if err != nil {
		return afterError(c.kind, r, err)
	}
	return r, nil
}

// deleteResult runs the command and returns the result of a delete.
func (c *statementCommand) deleteResult(ctx context.Context) (*DeleteResult, error) {
	err := c.run(ctx, c, retry.NotIdempotent)
	r := &DeleteResult{DeletedCount: c.n, Acknowledged: acknowledged(ctx, c.coll.scope.writeConcern)}
	if err != nil {
		return afterError(c.kind, r, err)
	}
	return r, nil
}

// afterError returns the result with the error if some of the documents may have been changed: the write was applied and only
// its write concern failed, or the command may change several documents and has a write error.
func afterError[T any](kind *writeKind, result *T, err error) (*T, error) {
	var e WriteException
	if kind.multi && errors.As(err, &e) {
		return result, err
	}
	return acknowledgedAnyway(result, err)
}
