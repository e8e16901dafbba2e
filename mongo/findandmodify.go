package mongo

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/retry"
)

var (
	findOneAndUpdateFields = supported(
		"ArrayFilters", "BypassDocumentValidation", "Collation", "Comment", "Projection", "ReturnDocument", "Sort", "Upsert",
		"Hint", "Let", "Internal")
	findOneAndReplaceFields = supported(
		"BypassDocumentValidation", "Collation", "Comment", "Projection", "ReturnDocument", "Sort", "Upsert", "Hint", "Let", "Internal")
	findOneAndDeleteFields = supported("Collation", "Comment", "Projection", "Sort", "Hint", "Let", "Internal")
)

// findAndModifyCommand is a findAndModify command. Its result is the document before or after the change.
type findAndModifyCommand struct {
	coll     *Collection
	elements []byte
	hint     any
	ending   ending
	result   *SingleResult
}

func (c *findAndModifyCommand) AppendTo(b []byte, attempt operation.Attempt) ([]byte, error) {
	if err := checkHint(c.hint, attempt, hintWireVersion); err != nil {
		return nil, err
	}
	b = wire.AppendString(b, "findAndModify", c.coll.name)
	return c.ending.appendTo(append(b, c.elements...), attempt), nil
}

func (c *findAndModifyCommand) Accept(reply *operation.Reply) error {
	c.result.raw, c.result.Acknowledged = nil, true
	if reply.Value.Type == bson.TypeEmbeddedDocument {
		c.result.raw = append(bson.Raw(nil), reply.Value.Value...)
	}
	return writeError(reply)
}

// findAndModifyArguments are the arguments of the methods that change one document and return it.
type findAndModifyArguments struct {
	updateArguments // without an update if remove is set
	remove          bool
	projection      any
	returns         *options.ReturnDocument
}

// FindOneAndUpdate updates one document that matches the filter and returns it: the document before the update or,
// with ReturnDocument(options.After), after it. If no document matches, the result's error is ErrNoDocuments. It is a
// retryable write.
func (coll *Collection) FindOneAndUpdate(
	ctx context.Context, filter, update any, opts ...options.Lister[options.FindOneAndUpdateOptions],
) *SingleResult {
	o, err := writeArguments(coll, findOneAndUpdateFields, opts)
	return coll.findAndModify(ctx, err, &findAndModifyArguments{
		updateArguments: updateArguments{
			filter: filter, update: update, arrayFilters: o.ArrayFilters, bypass: o.BypassDocumentValidation,
			collation: o.Collation, comment: o.Comment, hint: o.Hint, upsert: o.Upsert, let: o.Let, sort: o.Sort,
			internals: internalsOf(opts, o),
		},
		projection: o.Projection, returns: o.ReturnDocument,
	})
}

// FindOneAndReplace replaces one document that matches the filter and returns it: the document before the replacement or,
// with ReturnDocument(options.After), after it. If no document matches, the result's error is ErrNoDocuments. It is a
// retryable write.
func (coll *Collection) FindOneAndReplace(
	ctx context.Context, filter, replacement any, opts ...options.Lister[options.FindOneAndReplaceOptions],
) *SingleResult {
	o, err := writeArguments(coll, findOneAndReplaceFields, opts)
	return coll.findAndModify(ctx, err, &findAndModifyArguments{
		updateArguments: updateArguments{
			filter: filter, update: replacement, replace: true, bypass: o.BypassDocumentValidation, collation: o.Collation,
			comment: o.Comment, hint: o.Hint, upsert: o.Upsert, let: o.Let, sort: o.Sort,
			internals: internalsOf(opts, o),
		},
		projection: o.Projection, returns: o.ReturnDocument,
	})
}

// FindOneAndDelete deletes one document that matches the filter and returns it. If no document matches, the result's error
// is ErrNoDocuments. It is a retryable write.
func (coll *Collection) FindOneAndDelete(
	ctx context.Context, filter any, opts ...options.Lister[options.FindOneAndDeleteOptions],
) *SingleResult {
	o, err := writeArguments(coll, findOneAndDeleteFields, opts)
	return coll.findAndModify(ctx, err, &findAndModifyArguments{
		updateArguments: updateArguments{
			filter: filter, collation: o.Collation, comment: o.Comment, hint: o.Hint, let: o.Let, sort: o.Sort,
			internals: internalsOf(opts, o),
		},
		remove: true, projection: o.Projection,
	})
}

// findAndModify runs the command. refused is the error of the method's options.
func (coll *Collection) findAndModify(ctx context.Context, refused error, a *findAndModifyArguments) *SingleResult {
	result := &SingleResult{codec: coll.scope.codec, err: refused}
	if refused != nil {
		return result
	}
	s := newScratch()
	defer s.release()
	cmd := &findAndModifyCommand{coll: coll, hint: a.hint, result: result}
	if cmd.ending, result.err = coll.appendFindAndModify(s, a); result.err != nil {
		return result
	}
	cmd.elements = s.b
	var op operation.Operation
	coll.write(&op, "findAndModify", cmd, retry.NotIdempotent)
	result.err = coll.db.client.run(ctx, &op)
	return result
}

func (coll *Collection) appendFindAndModify(s *scratch, a *findAndModifyArguments) (ending, error) {
	if err := coll.appendNamed(s, "query", a.filter); err != nil {
		return ending{}, err
	}
	if a.remove {
		s.b = wire.AppendBool(s.b, "remove", true)
	} else if err := coll.appendChange(s, "update", &a.updateArguments); err != nil {
		return ending{}, err
	}
	x := extras{b: s.b, codec: coll.scope.codec}
	x.array("arrayFilters", a.arrayFilters)
	x.boolean("bypassDocumentValidation", a.bypass)
	x.collation(a.collation)
	x.value("comment", a.comment)
	x.document("fields", a.projection)
	x.orderedDocument("sort", a.sort)
	x.boolean("upsert", a.upsert)
	x.hint(a.hint)
	x.document("let", a.let)
	if a.returns != nil {
		x.b = wire.AppendBool(x.b, "new", *a.returns == options.After)
	}
	end := x.ending(a.internals)
	s.b = x.b
	return end, x.err
}
