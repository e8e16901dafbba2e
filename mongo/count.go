package mongo

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

var (
	countFields         = supported("Collation", "Comment", "Hint", "Limit", "Skip", "Internal")
	estimateCountFields = supported("Comment", "Internal")
)

// countStage makes one document with the number of documents.
var countStage = bson.D{{Key: "_id", Value: int32(1)}, {Key: "n", Value: bson.D{{Key: "$sum", Value: int32(1)}}}}

// CountDocuments returns the number of documents that match the filter. It is an aggregation, and a retryable read.
func (coll *Collection) CountDocuments(
	ctx context.Context, filter any, opts ...options.Lister[options.CountOptions],
) (int64, error) {
	o, err := arguments(coll, countFields, opts)
	if err != nil {
		return 0, err
	}
	a := &aggregation{db: coll.db, collection: coll.name, scope: &coll.scope}
	if a.stages, err = coll.countStages(filter, &o); err != nil {
		return 0, err
	}
	x := extras{codec: coll.scope.codec}
	x.collation(o.Collation)
	x.value("comment", o.Comment)
	x.hint(o.Hint)
	a.ending = x.ending(internalsOf(opts, o))
	if a.extras = x.b; x.err != nil {
		return 0, x.err
	}
	n := int64(0)
	var op operation.Operation
	a.describe(&op, &plainCommand{elements: a.elements(), ending: a.ending, accept: func(reply *operation.Reply) error {
		n, err = countIn(reply)
		return err
	}})
	if err := coll.db.client.run(ctx, &op); err != nil {
		return 0, err
	}
	return n, nil
}

func (coll *Collection) countStages(filter any, o *options.CountOptions) (stages, error) {
	s := newScratch()
	defer s.release()
	match, err := coll.scope.codec.document(s, filter)
	if err != nil {
		return nil, err
	}
	p := stages(nil).stage("$match", bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: match})
	var c codec // the options of the collection are not for stages that it did not write
	for _, stage := range []struct {
		name  string
		value any
		given bool
	}{{"$skip", o.Skip, o.Skip != nil}, {"$limit", o.Limit, o.Limit != nil}, {"$group", countStage, true}} {
		if !stage.given {
			continue
		}
		v, err := c.value(stage.value)
		if err != nil {
			return nil, err
		}
		p = p.stage(stage.name, v)
	}
	return p, nil
}

// countIn returns the number in the only document of the reply's cursor. Without a document it is 0.
func countIn(reply *operation.Reply) (int64, error) {
	r, err := reply.ReadCursor()
	if err != nil {
		return 0, fmt.Errorf("mongo: %w", err)
	}
	first := wire.Elements(r.Batch)
	if !first.Next() {
		return 0, first.Err
	}
	if n, ok := element(first.Document(), "n"); ok {
		if count, ok := n.Int64(); ok {
			return count, nil
		}
	}
	return 0, fmt.Errorf("mongo: the server's reply has no number of documents: %v", reply.Body)
}

// EstimatedDocumentCount returns the number of documents of the collection by its metadata, without a scan. After an
// unclean shutdown, or in a sharded cluster, the number may be wrong. It is a retryable read.
func (coll *Collection) EstimatedDocumentCount(
	ctx context.Context, opts ...options.Lister[options.EstimatedDocumentCountOptions],
) (int64, error) {
	o, err := arguments(coll, estimateCountFields, opts)
	if err != nil {
		return 0, err
	}
	x := extras{b: wire.AppendString(nil, "count", coll.name), codec: coll.scope.codec}
	x.value("comment", o.Comment)
	end := x.ending(internalsOf(opts, o))
	if x.err != nil {
		return 0, x.err
	}
	n := int64(0)
	var op operation.Operation
	coll.scope.read(&op, coll.db.name, coll.name, "count", &plainCommand{elements: x.b, ending: end, accept: func(reply *operation.Reply) error {
		n = reply.N
		return nil
	}})
	if err := coll.db.client.run(ctx, &op); err != nil {
		return 0, err
	}
	return n, nil
}
