package mongo

import (
	"context"
	"errors"
	"sync"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/retry"
)

var insertOneFields = supported("BypassDocumentValidation", "Comment", "Internal")

// insertCommand is an insert command with one encoded document.
type insertCommand struct{ writeCommand }

func (c *insertCommand) AppendTo(b []byte, attempt operation.Attempt) ([]byte, error) {
	if limit := int(attempt.Server.MaxDocumentSize); limit > 0 && len(c.statements) > limit {
		refused := documentTooLarge(0, len(c.statements), limit)
		return nil, WriteException{WriteErrors: WriteErrors{refused.writeError()}}
	}
	return c.appendTo(b, attempt)
}

func (c *insertCommand) Accept(r *operation.Reply) error { return writeError(r) }

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
	cmd.coll, cmd.kind, cmd.statements = coll, insertKind, s.b
	given := writeExtras{bypass: o.BypassDocumentValidation, comment: o.Comment, internals: internalsOf(opts, o)}
	if cmd.extras, cmd.ending, err = given.encode(coll.scope.codec, insertKind.command); err != nil {
		return nil, err
	}
	// The document has an _id: the server refuses a second insert of it.
	if err := cmd.run(ctx, cmd, retry.Idempotent); err != nil {
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
