package mongo

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/retry"
)

var findOneAndUpdateFields = honoured(
	"ArrayFilters", "BypassDocumentValidation", "Collation", "Comment", "Projection", "ReturnDocument", "Sort", "Upsert",
	"Hint", "Let")

// findAndModifyCommand is a findAndModify command. Its result is the document before or after the update.
type findAndModifyCommand struct {
	coll     *Collection
	elements []byte
	hint     any
	result   *SingleResult
}

func (c *findAndModifyCommand) AppendTo(b []byte, attempt operation.Attempt) ([]byte, error) {
	if err := c.coll.checkHint(c.hint, attempt, hintWireVersion); err != nil {
		return nil, err
	}
	b = wire.AppendString(b, "findAndModify", c.coll.name)
	return append(b, c.elements...), nil
}

func (c *findAndModifyCommand) Accept(reply *operation.Reply) error {
	c.result.raw, c.result.Acknowledged = nil, true
	if reply.Value.Type == bson.TypeEmbeddedDocument {
		c.result.raw = append(bson.Raw(nil), reply.Value.Value...)
	}
	return writeError(reply)
}

// FindOneAndUpdate updates one document that matches the filter and returns it: the document before the update or,
// with ReturnDocument(options.After), after it. If no document matches, the result's error is ErrNoDocuments. It is a
// retryable write.
func (coll *Collection) FindOneAndUpdate(
	ctx context.Context, filter, update any, opts ...options.Lister[options.FindOneAndUpdateOptions],
) *SingleResult {
	result := &SingleResult{codec: coll.scope.codec}
	o, err := writeArguments(coll, findOneAndUpdateFields, opts)
	if err != nil {
		result.err = err
		return result
	}
	s := newScratch()
	defer s.release()
	if result.err = coll.appendFindAndModify(s, filter, update, &o); result.err != nil {
		return result
	}
	cmd := &findAndModifyCommand{coll: coll, elements: s.b, hint: o.Hint, result: result}
	var op operation.Operation
	coll.write(&op, "findAndModify", cmd, retry.EffectNotIdempotent)
	result.err = coll.db.client.run(ctx, &op)
	return result
}

func (coll *Collection) appendFindAndModify(
	s *scratch, filter, update any, o *options.FindOneAndUpdateOptions,
) error {
	if err := coll.appendNamed(s, "query", filter); err != nil {
		return err
	}
	if err := coll.appendChange(s, "update", &updateArguments{update: update}); err != nil {
		return err
	}
	x := extras{b: s.b, codec: coll.scope.codec}
	x.array("arrayFilters", o.ArrayFilters)
	x.boolean("bypassDocumentValidation", o.BypassDocumentValidation)
	x.collation(o.Collation)
	x.value("comment", o.Comment)
	x.document("fields", o.Projection)
	x.orderedDocument("sort", o.Sort)
	x.boolean("upsert", o.Upsert)
	x.hint(o.Hint)
	x.document("let", o.Let)
	if o.ReturnDocument != nil {
		x.b = wire.AppendBool(x.b, "new", *o.ReturnDocument == options.After)
	}
	s.b = x.b
	return x.err
}
