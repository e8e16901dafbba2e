package mongo

import (
	"context"
	"errors"
	"sync"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/retry"
)

var insertOneFields = honoured("BypassDocumentValidation", "Comment")

// insertCommand is an insert command with encoded documents.
type insertCommand struct {
	coll      *Collection
	documents []byte
	ordered   bool
	extras    []byte
	many      bool

	op operation.Operation
}

func (c *insertCommand) AppendTo(b []byte, attempt operation.Attempt) ([]byte, error) {
	if err := c.checkSizes(int(attempt.Server.MaxDocumentSize)); err != nil {
		return nil, err
	}
	b = wire.AppendString(b, "insert", c.coll.name)
	b = wire.AppendBool(b, "ordered", c.ordered)
	return append(b, c.extras...), nil
}

func (c *insertCommand) AppendSequences(b []byte) []byte {
	return wire.AppendSequence(b, "documents", c.documents)
}

func (c *insertCommand) Accept(r *operation.Reply) error {
	if c.many {
		return bulkError(r)
	}
	return writeError(r)
}

// run runs the insert. It is idempotent, because each document has an _id: the server refuses a second insert of it.
func (c *insertCommand) run(ctx context.Context) error {
	c.coll.write(&c.op, "insert", c, retry.EffectIdempotent)
	return c.coll.db.client.run(ctx, &c.op)
}

// checkSizes returns the error of the first document that is larger than the server's maxBsonObjectSize, or nil. limit 0
// means that the server has none. InsertMany has left such documents out, unless this server has a smaller limit than
// the one that it knew.
func (c *insertCommand) checkSizes(limit int) error {
	if limit == 0 || len(c.documents) <= limit {
		return nil
	}
	for i, documents := 0, c.documents; len(documents) > 0; i++ {
		n, err := wire.DocumentLength(documents)
		if err != nil {
			return err
		}
		if n > limit {
			return c.refuse(documentTooLarge(i, n, limit))
		}
		documents = documents[n:]
	}
	return nil
}

// refuse returns the error of a document that is too large: of InsertOne that of a server, to InsertMany e itself.
func (c *insertCommand) refuse(e tooLarge) error {
	if c.many {
		return e
	}
	return WriteException{WriteErrors: WriteErrors{e.writeError()}}
}

// InsertOne inserts a document. A document without an _id gets a new ObjectID; the result has the _id. It is a
// retryable write. After a WriteConcernError it returns the result and the error.
func (coll *Collection) InsertOne(
	ctx context.Context, document any, opts ...options.Lister[options.InsertOneOptions],
) (*InsertOneResult, error) {
	o, err := writeArguments(coll, insertOneFields, opts)
	if err != nil {
		return nil, err
	}
	s := newScratch()
	defer s.release()
	if err := coll.scope.codec.append(s, document); err != nil {
		return nil, err
	}
	id, err := coll.scope.codec.withID(s, 0)
	if err != nil {
		return nil, err
	}
	cmd := insertCommands.Get().(*insertCommand)
	cmd.coll, cmd.documents, cmd.ordered = coll, s.b, true
	if cmd.extras, err = insertExtras(coll.scope.codec, o.BypassDocumentValidation, o.Comment); err != nil {
		return nil, err
	}
	if err := cmd.run(ctx); err != nil {
		return acknowledgedAnyway(&InsertOneResult{InsertedID: id, Acknowledged: true}, err)
	}
	*cmd = insertCommand{}
	insertCommands.Put(cmd)
	return &InsertOneResult{InsertedID: id, Acknowledged: acknowledged(ctx, coll.scope.writeConcern)}, nil
}

// insertCommands recycles the commands of InsertOne that succeeded. An error may still refer to its command.
var insertCommands = sync.Pool{New: func() any { return new(insertCommand) }}

// acknowledgedAnyway returns the result with the error if the write was applied and only its write concern failed.
func acknowledgedAnyway[T any](result *T, err error) (*T, error) {
	var e WriteException
	if errors.As(err, &e) && e.WriteConcernError != nil && len(e.WriteErrors) == 0 {
		return result, err
	}
	return nil, err
}

func insertExtras(codec codec, bypass *bool, comment any) ([]byte, error) {
	x := extras{codec: codec}
	x.boolean("bypassDocumentValidation", bypass)
	x.value("comment", comment)
	return x.b, x.err
}

// bulkError returns the BulkWriteException of a reply, or nil.
func bulkError(reply *operation.Reply) error {
	if reply.WriteErrors == nil && reply.WriteConcernError == nil {
		return nil
	}
	e := BulkWriteException{WriteConcernError: writeConcernError(reply.WriteConcernError), Labels: reply.LabelTexts()}
	for _, we := range writeErrors(reply.WriteErrors) {
		e.WriteErrors = append(e.WriteErrors, BulkWriteError{WriteError: we})
	}
	return e
}
