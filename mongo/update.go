package mongo

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/retry"
)

var (
	updateOneFields = honoured(
		"ArrayFilters", "BypassDocumentValidation", "Collation", "Comment", "Hint", "Upsert", "Let", "Sort")
	replaceFields = honoured("BypassDocumentValidation", "Collation", "Comment", "Hint", "Upsert", "Let", "Sort")
)

// statementCommand is an update or delete command with one statement.
type statementCommand struct {
	name       string // "update" or "delete"
	identifier string
	coll       *Collection
	statement  []byte
	extras     []byte
	hint       any
	hintSince  int32 // the wire version from which servers know a hint

	n, modified int64
	upserted    any
	hasUpserted bool

	op operation.Operation
}

// run runs the statement. effect is the operation's Effect.
func (c *statementCommand) run(ctx context.Context, effect retry.Effect) error {
	c.coll.write(&c.op, c.name, c, effect)
	return c.coll.db.client.run(ctx, &c.op)
}

func (c *statementCommand) AppendTo(b []byte, attempt operation.Attempt) ([]byte, error) {
	if limit := int(attempt.Server.MaxDocumentSize); limit > 0 && len(c.statement) > limit+messageMargin {
		refused := tooLarge{subject: "the " + c.name + " statement", size: len(c.statement), limit: limit}
		return nil, WriteException{WriteErrors: WriteErrors{refused.writeError()}}
	}
	if err := c.coll.checkHint(c.hint, attempt, c.hintSince); err != nil {
		return nil, err
	}
	b = wire.AppendString(b, c.name, c.coll.name)
	b = wire.AppendBool(b, "ordered", true)
	return append(b, c.extras...), nil
}

func (c *statementCommand) AppendSequences(b []byte) []byte {
	return wire.AppendSequence(b, c.identifier, c.statement)
}

func (c *statementCommand) Accept(reply *operation.Reply) error {
	c.n, c.modified, c.upserted, c.hasUpserted = reply.N, reply.NModified, nil, false
	if reply.Upserted != nil {
		if err := c.readUpserted(reply.Upserted); err != nil {
			return err
		}
	}
	return writeError(reply)
}

func (c *statementCommand) readUpserted(array []byte) error {
	first := wire.Elements(array)
	if !first.Next() {
		return first.Err
	}
	for it := wire.Elements(first.Value); it.Next(); {
		if string(it.Key) == "_id" {
			c.hasUpserted = true
			return bson.RawValue{Type: it.Type, Value: it.Value}.Unmarshal(&c.upserted)
		}
	}
	return nil
}

// updateArguments are the arguments of UpdateOne, ReplaceOne and FindOneAndUpdate.
type updateArguments struct {
	filter, update any
	replace        bool

	arrayFilters []any
	bypass       *bool
	collation    *options.Collation
	comment      any
	hint         any
	upsert       *bool
	let          any
	sort         any
}

// UpdateOne updates one document that matches the filter. update is a document of update operators or a pipeline. It
// is a retryable write. After a WriteConcernError it returns the result and the error.
func (coll *Collection) UpdateOne(
	ctx context.Context, filter, update any, opts ...options.Lister[options.UpdateOneOptions],
) (*UpdateResult, error) {
	o, err := writeArguments(coll, updateOneFields, opts)
	if err != nil {
		return nil, err
	}
	return coll.update(ctx, &updateArguments{
		filter: filter, update: update, arrayFilters: o.ArrayFilters, bypass: o.BypassDocumentValidation,
		collation: o.Collation, comment: o.Comment, hint: o.Hint, upsert: o.Upsert, let: o.Let, sort: o.Sort,
	})
}

// UpdateByID is UpdateOne for the document with that _id. A nil id is ErrNilValue.
func (coll *Collection) UpdateByID(
	ctx context.Context, id, update any, opts ...options.Lister[options.UpdateOneOptions],
) (*UpdateResult, error) {
	if id == nil {
		return nil, ErrNilValue
	}
	return coll.UpdateOne(ctx, bson.D{{Key: "_id", Value: id}}, update, opts...)
}

// ReplaceOne replaces one document that matches the filter. It is a retryable write. After a WriteConcernError it
// returns the result and the error.
func (coll *Collection) ReplaceOne(
	ctx context.Context, filter, replacement any, opts ...options.Lister[options.ReplaceOptions],
) (*UpdateResult, error) {
	o, err := writeArguments(coll, replaceFields, opts)
	if err != nil {
		return nil, err
	}
	return coll.update(ctx, &updateArguments{
		filter: filter, update: replacement, replace: true, bypass: o.BypassDocumentValidation, collation: o.Collation,
		comment: o.Comment, hint: o.Hint, upsert: o.Upsert, let: o.Let, sort: o.Sort,
	})
}

func (coll *Collection) update(ctx context.Context, a *updateArguments) (*UpdateResult, error) {
	s := newScratch()
	defer s.release()
	if err := coll.appendUpdate(s, a); err != nil {
		return nil, err
	}
	cmd := &statementCommand{
		name: "update", identifier: "updates", coll: coll, statement: s.b, hint: a.hint, hintSince: updateHintWireVersion,
	}
	x := extras{codec: coll.scope.codec}
	x.boolean("bypassDocumentValidation", a.bypass)
	x.value("comment", a.comment)
	x.document("let", a.let)
	if x.err != nil {
		return nil, x.err
	}
	cmd.extras = x.b
	effect := retry.EffectNotIdempotent
	if a.replace {
		effect = retry.EffectIdempotent
	}
	err := cmd.run(ctx, effect)
	r := &UpdateResult{
		MatchedCount: cmd.n, ModifiedCount: cmd.modified, UpsertedID: cmd.upserted,
		Acknowledged: acknowledged(ctx, coll.scope.writeConcern),
	}
	if cmd.hasUpserted {
		r.MatchedCount, r.UpsertedCount = r.MatchedCount-1, 1
	}
	if err != nil {
		return acknowledgedAnyway(r, err)
	}
	return r, nil
}

// appendUpdate writes the statement of an update command.
func (coll *Collection) appendUpdate(s *scratch, a *updateArguments) error {
	x := extras{codec: coll.scope.codec}
	x.array("arrayFilters", a.arrayFilters)
	x.collation(a.collation)
	x.hint(a.hint)
	x.boolean("upsert", a.upsert)
	x.orderedDocument("sort", a.sort)
	if x.err != nil {
		return x.err
	}
	var at int
	at, s.b = wire.BeginDocument(s.b)
	if err := coll.appendNamed(s, "q", a.filter); err != nil {
		return err
	}
	if err := coll.appendChange(s, "u", a); err != nil {
		return err
	}
	s.b = wire.EndDocument(append(s.b, x.b...), at)
	return nil
}

// appendNamed writes v as an embedded document under key.
func (coll *Collection) appendNamed(s *scratch, key string, v any) error {
	s.b = wire.BeginEmbeddedHead(s.b, key)
	return coll.scope.codec.append(s, v)
}

// appendChange writes the update or the replacement. It returns an error if a replacement has operators or an update
// has none.
func (coll *Collection) appendChange(s *scratch, key string, a *updateArguments) error {
	if isPipeline(a.update) {
		return coll.appendPipeline(s, key, a)
	}
	s.b = wire.BeginEmbeddedHead(s.b, key)
	at := len(s.b)
	if err := coll.scope.codec.append(s, a.update); err != nil {
		return err
	}
	switch operator, exists := startsWithOperator(s.b[at:]); {
	case a.replace && operator:
		return errors.New("mongo: the replacement document begins with an update operator; use UpdateOne")
	case !a.replace && !exists:
		return errors.New("mongo: the update document is empty; it must have an update operator")
	case !a.replace && !operator:
		return errors.New("mongo: the update document must begin with an update operator, whose name starts with $")
	}
	return nil
}

func (coll *Collection) appendPipeline(s *scratch, key string, a *updateArguments) error {
	if a.replace {
		return errors.New("mongo: a replacement must be a document, not a pipeline")
	}
	v, err := coll.scope.codec.value(a.update)
	if err != nil {
		return err
	}
	for it := wire.Elements(v.Value); it.Next(); {
		if operator, exists := startsWithOperator(it.Value); it.Type == bson.TypeEmbeddedDocument && (!exists || !operator) {
			return fmt.Errorf("mongo: stage %s of the update pipeline must begin with an operator, whose name starts with $", it.Key)
		}
	}
	s.b = wire.AppendValue(s.b, key, v.Type, v.Value)
	return nil
}

// isPipeline reports whether an update is a pipeline: any slice except a document (bson.D) or its bytes.
func isPipeline(update any) bool {
	switch update.(type) {
	case bson.D, bson.Raw, []byte, *bson.D:
		return false
	case Pipeline, bson.A, []bson.D, []bson.M:
		return true
	}
	t := reflect.TypeOf(update)
	return t != nil && t.Kind() == reflect.Slice && t.Elem() != reflect.TypeFor[bson.E]() && t.Elem().Kind() != reflect.Uint8
}
