package simulation

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/mongo"
)

func (w *worker) update(ctx context.Context, o *operation) {
	c := w.start(o, &call{writes: pushes(registers, w.some(o, 1)), commands: 1})
	result, err := w.collection(registers).UpdateOne(ctx, byID(c.writes[0].doc), change(c.writes[0].token),
		options.UpdateOne().SetComment(c.id))
	w.history.end(c, err)
	if err == nil {
		w.expect(c, "MatchedCount", result.MatchedCount, 1)
	}
}

func (w *worker) findOneAndUpdate(ctx context.Context, o *operation) {
	c := w.start(o, &call{writes: pushes(registers, w.some(o, 1)), commands: 1})
	after := o.IntN(2) == 1
	document, returns := document{}, options.Before
	if after {
		returns = options.After
	}
	err := w.collection(registers).FindOneAndUpdate(ctx, byID(c.writes[0].doc), change(c.writes[0].token),
		options.FindOneAndUpdate().SetComment(c.id).SetReturnDocument(returns)).Decode(&document)
	if errors.Is(err, mongo.ErrNoDocuments) {
		err = errNoDocument
	}
	w.history.end(c, err)
	if err == nil {
		c.image = &returned{log: document.Log, after: after}
	}
}

// swap reads a document and replaces it, if nobody has changed it meanwhile.
func (w *worker) swap(ctx context.Context, o *operation) {
	doc := w.some(o, 1)[0]
	found, ok := w.findOne(ctx, o, doc, linearizable, reading(readconcern.Linearizable(), readpref.Primary()))
	if !ok {
		return
	}
	c := w.start(o, &call{writes: pushes(registers, []string{doc}), commands: 1})
	filter := bson.D{{Key: "_id", Value: doc}, {Key: "last", Value: found.Last}}
	result, err := w.collection(registers).ReplaceOne(ctx, filter, found.changed(c.writes[0].token), options.Replace().SetComment(c.id))
	w.history.end(c, err)
	switch {
	case err != nil:
	case result.MatchedCount == 1:
		c.swapped = append([]string{}, found.Log...)
	default:
		c.claimAll(notApplied)
	}
}

func (w *worker) updateMany(ctx context.Context, o *operation) {
	docs := w.some(o, 3)
	c := &call{writes: pushes(registers, docs), commands: 1}
	w.start(o, c)
	for i := range c.writes { // one statement, so one token
		c.writes[i].token = c.writes[0].token
	}
	filter := bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: docs}}}}
	result, err := w.collection(registers).UpdateMany(ctx, filter, change(c.writes[0].token), options.UpdateMany().SetComment(c.id))
	w.history.end(c, err)
	if err == nil {
		w.expect(c, "MatchedCount", result.MatchedCount, int64(len(docs)))
	}
}

// findOne reads a document of registers.
func (w *worker) findOne(ctx context.Context, o *operation, doc string, l level, how *options.CollectionOptionsBuilder) (document, bool) {
	c := w.start(o, &call{kind: o.kind + " read", commands: 1})
	var found document
	err := w.collection(registers, how).FindOne(ctx, byID(doc), options.FindOne().SetComment(c.id)).Decode(&found)
	if errors.Is(err, mongo.ErrNoDocuments) {
		w.history.violated("result", "%s: %s is not found", c.id, doc)
	}
	w.history.end(c, err)
	if err == nil {
		c.reads = append(c.reads, read{ns: registers, doc: doc, level: l, log: found.Log, n: found.N})
	}
	return found, err == nil
}

func (w *worker) readLinearizable(ctx context.Context, o *operation) {
	w.findOne(ctx, o, w.some(o, 1)[0], linearizable, reading(readconcern.Linearizable(), readpref.Primary()))
}

func (w *worker) readMajority(ctx context.Context, o *operation) {
	w.findOne(ctx, o, w.some(o, 1)[0], committed, reading(readconcern.Majority(), readpref.Nearest()))
}

func (w *worker) readSecondary(ctx context.Context, o *operation) {
	w.findOne(ctx, o, w.some(o, 1)[0], anything, reading(readconcern.Local(), readpref.SecondaryPreferred()))
}

// scan reads documents in several batches, by find or by aggregate.
func (w *worker) scan(ctx context.Context, o *operation) {
	docs := w.some(o, 4)
	c := w.start(o, &call{})
	from := w.collection(registers, reading(readconcern.Majority(), readpref.PrimaryPreferred()))
	filter := bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: docs}}}}
	var cursor *mongo.Cursor
	var err error
	if o.IntN(2) == 0 {
		cursor, err = from.Find(ctx, filter, options.Find().SetBatchSize(2).SetComment(c.id))
	} else {
		cursor, err = from.Aggregate(ctx, mongo.Pipeline{{{Key: "$match", Value: filter}}},
			options.Aggregate().SetBatchSize(2).SetComment(c.id))
	}
	var found []document
	if err == nil {
		err = cursor.All(ctx, &found)
	}
	w.history.end(c, err)
	if err != nil {
		w.checkCursor(c)
		return
	}
	w.expect(c, "the number of documents", int64(len(found)), int64(len(docs)))
	for _, d := range found {
		c.reads = append(c.reads, read{ns: registers, doc: d.ID, level: committed, log: d.Log, n: d.N})
	}
}
