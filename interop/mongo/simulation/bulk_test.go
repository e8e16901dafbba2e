package simulation

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
)

// bulkWrite changes three registers by one command. In some, a statement in the middle must fail.
func (w *worker) bulkWrite(ctx context.Context, o *operation) {
	docs := w.some(o, 3)
	c := w.start(o, &call{writes: pushes(registers, docs), commands: 1})
	ordered := o.IntN(2) == 0
	var models []mongo.WriteModel
	for _, x := range c.writes {
		models = append(models, mongo.NewUpdateOneModel().SetFilter(byID(x.doc)).SetUpdate(change(x.token)))
	}
	const none = -1
	wrong := none
	if o.IntN(3) == 0 { // $push to a field that is no array
		wrong = 1
		c.writes[wrong].effect, c.writes[wrong].token = push, c.writes[wrong].token+"-wrong"
		update := change(c.writes[wrong].token)
		update[1].Key = "$pull"
		update[1].Value = byID("x")
		models[wrong] = mongo.NewUpdateOneModel().SetFilter(byID(c.writes[wrong].doc)).SetUpdate(update)
	}
	result, err := w.collection(registers).BulkWrite(ctx, models, options.BulkWrite().SetOrdered(ordered).SetComment(c.id))
	w.history.end(c, err)
	if err != nil {
		c.claimByIndex(err, ordered)
		return
	}
	w.expect(c, "MatchedCount", result.MatchedCount, 3)
	w.expect(c, "the number of wrong statements", int64(wrong), none)
}

// claimByIndex corrects the claims of a single command by the indexes of its write errors, if there are any: then the server
// has answered.
func (c *call) claimByIndex(err error, ordered bool) {
	failed := make(map[int]bool)
	var bulk mongo.BulkWriteException
	var client mongo.ClientBulkWriteException
	switch {
	case errors.As(err, &bulk) && bulk.WriteConcernError == nil:
		for _, e := range bulk.WriteErrors {
			failed[e.Index] = true
		}
	case errors.As(err, &client) && len(client.WriteConcernErrors) == 0:
		for i := range client.WriteErrors {
			failed[i] = true
		}
	}
	if len(failed) == 0 {
		return
	}
	stopped := false
	for i := range c.writes {
		stopped = stopped || ordered && failed[i]
		c.writes[i].claim = applied
		if stopped || failed[i] {
			c.writes[i].claim = notApplied
		}
	}
}

// mixedBulkWrite has one model of each type, so that it needs a command for each. The error is that of the command that failed; the
// result has the changes of the other one, which may be undone if its write concern was not satisfied.
func (w *worker) mixedBulkWrite(ctx context.Context, o *operation) {
	writes := append(pushes(registers, w.some(o, 1)), write{ns: registers, effect: insert})
	c := w.start(o, &call{writes: writes, commands: 2})
	models := []mongo.WriteModel{
		mongo.NewUpdateOneModel().SetFilter(byID(c.writes[0].doc)).SetUpdate(change(c.writes[0].token)),
		mongo.NewInsertOneModel().SetDocument(document{ID: c.writes[1].doc, Last: c.writes[1].token, Log: []string{}}),
	}
	result, err := w.collection(registers).BulkWrite(ctx, models, options.BulkWrite().SetOrdered(o.IntN(2) == 0).SetComment(c.id))
	w.history.end(c, err)
	if result == nil {
		return
	}
	counted := applied
	if concernFailed(err) {
		counted = unknown
	}
	if result.MatchedCount == 1 {
		c.writes[0].claim = counted
	}
	if result.InsertedCount == 1 {
		c.writes[1].claim = counted
	}
	if err == nil {
		w.expect(c, "MatchedCount and InsertedCount", result.MatchedCount+result.InsertedCount, 2)
	}
}

func (w *worker) clientBulkWrite(ctx context.Context, o *operation) {
	writes := append(pushes(registers, w.some(o, 2)), write{ns: lives, effect: insert})
	c := w.start(o, &call{writes: writes, commands: 1})
	var models []mongo.ClientBulkWrite
	for _, x := range c.writes[:2] {
		models = append(models, mongo.ClientBulkWrite{
			Database: database, Collection: registers,
			Model: mongo.NewClientUpdateOneModel().SetFilter(byID(x.doc)).SetUpdate(change(x.token)),
		})
	}
	models = append(models, mongo.ClientBulkWrite{
		Database: database, Collection: lives,
		Model: mongo.NewClientInsertOneModel().SetDocument(newborn(c.writes[2].token)),
	})
	ordered := o.IntN(2) == 0
	result, err := w.client.BulkWrite(ctx, models, options.ClientBulkWrite().SetOrdered(ordered).SetComment(c.id))
	w.history.end(c, err)
	if err != nil {
		c.claimByIndex(err, ordered)
		return
	}
	w.expect(c, "MatchedCount", result.MatchedCount, 2)
	w.expect(c, "InsertedCount", result.InsertedCount, 1)
	w.owned = append(w.owned, c.writes[2].doc)
}
