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

func (w *worker) insertOne(ctx context.Context, o *operation) {
	c := w.start(o, &call{kind: "insertOne", writes: []write{{ns: lives, effect: insert}}, commands: 1})
	_, err := w.collection(lives).InsertOne(ctx, newborn(c.writes[0].token), options.InsertOne().SetComment(c.id))
	w.history.end(c, err)
	w.own(c)
}

// own remembers the documents that are certainly there.
func (w *worker) own(c *call) {
	for _, x := range c.writes {
		if x.effect == insert && x.claim == applied {
			w.owned = append(w.owned, x.doc)
		}
	}
}

// disown returns a document to delete. Whatever the deletion returns, nobody deletes it again.
func (w *worker) disown(o *operation) (string, bool) {
	if len(w.owned) == 0 {
		return "", false
	}
	i := o.IntN(len(w.owned))
	doc := w.owned[i]
	w.owned = append(w.owned[:i], w.owned[i+1:]...)
	return doc, true
}

// insertMany inserts up to five documents. In some, one in the middle is there already.
func (w *worker) insertMany(ctx context.Context, o *operation) {
	c := w.start(o, &call{writes: make([]write, 2+o.IntN(4)), commands: 1})
	var docs []any
	for i := range c.writes {
		x := &c.writes[i]
		x.ns, x.effect, x.doc = lives, insert, x.token
		docs = append(docs, newborn(x.token))
	}
	ordered := o.IntN(2) == 0
	twice := o.IntN(3) == 0
	if twice { // the second document once more, at its end
		docs = append(docs, docs[1])
		last := c.writes[1]
		last.token += "-again"
		last.doc = last.token
		c.writes = append(c.writes, last)
	}
	_, err := w.collection(lives).InsertMany(ctx, docs, options.InsertMany().SetOrdered(ordered).SetComment(c.id))
	w.history.end(c, err)
	if err != nil {
		c.claimByIndex(err, ordered)
	} else if twice {
		w.history.violated("result", "%s inserted a document twice", c.id)
	}
	w.own(c)
}

func (w *worker) deleteOne(ctx context.Context, o *operation) {
	doc, ok := w.disown(o)
	if !ok {
		w.insertOne(ctx, o)
		return
	}
	c := w.start(o, &call{writes: []write{{ns: lives, doc: doc, token: doc, effect: remove}}, commands: 1})
	result, err := w.collection(lives).DeleteOne(ctx, byID(doc), options.DeleteOne().SetComment(c.id))
	w.history.end(c, err)
	if err == nil {
		w.expect(c, "DeletedCount", result.DeletedCount, 1)
	}
}

func (w *worker) findOneAndDelete(ctx context.Context, o *operation) {
	doc, ok := w.disown(o)
	if !ok {
		w.insertOne(ctx, o)
		return
	}
	c := w.start(o, &call{writes: []write{{ns: lives, doc: doc, token: doc, effect: remove}}, commands: 1})
	err := w.collection(lives).FindOneAndDelete(ctx, byID(doc), options.FindOneAndDelete().SetComment(c.id)).Err()
	if errors.Is(err, mongo.ErrNoDocuments) {
		w.history.violated("result", "%s: %s is not found", c.id, doc)
	}
	w.history.end(c, err)
}

func (w *worker) deleteMany(ctx context.Context, o *operation) {
	var writes []write
	var docs []string
	for range 2 {
		if doc, ok := w.disown(o); ok {
			docs = append(docs, doc)
			writes = append(writes, write{ns: lives, doc: doc, token: doc, effect: remove})
		}
	}
	if len(docs) == 0 {
		w.insertOne(ctx, o)
		return
	}
	c := w.start(o, &call{writes: writes, commands: 1})
	filter := bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: docs}}}}
	result, err := w.collection(lives).DeleteMany(ctx, filter, options.DeleteMany().SetComment(c.id))
	w.history.end(c, err)
	if err == nil {
		w.expect(c, "DeletedCount", result.DeletedCount, int64(len(docs)))
	}
}

// causal reads what it has just written, from a secondary if there is one.
func (w *worker) causal(ctx context.Context, o *operation) {
	session, err := w.client.StartSession(options.Session().SetCausalConsistency(true))
	if err != nil {
		w.history.violated("result", "%s: a session: %v", o.id, err)
		return
	}
	defer session.EndSession(context.Background())
	ctx = mongo.NewSessionContext(ctx, session)
	c := w.start(o, &call{kind: "causal write", writes: []write{{ns: lives, effect: insert}}, commands: 1})
	_, err = w.collection(lives).InsertOne(ctx, newborn(c.writes[0].token), options.InsertOne().SetComment(c.id))
	w.history.end(c, err)
	if err != nil {
		return
	}
	w.own(c)
	seen := w.start(o, &call{kind: "causal read", commands: 1})
	n, err := w.collection(lives, reading(readconcern.Majority(), readpref.SecondaryPreferred())).
		CountDocuments(ctx, byID(c.writes[0].doc), options.Count().SetComment(seen.id))
	w.history.end(seen, err)
	if err == nil {
		w.expect(seen, "the number of documents that the session has inserted", n, 1)
	}
}
