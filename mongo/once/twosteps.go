package once

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/retry"
)

// twoSteps is an update on its way.
type twoSteps struct {
	*Collection
	name    string
	filter  *filter
	update  *update
	options stepOptions
	fresh   bool // nobody else has used the id
}

// maxMarks bounds the first steps of an upsert that meets others on the same _id.
const maxMarks = 4

var (
	errVanished = errors.New("the token is neither pending nor finished: the document was replaced or rolled back, or more updates have finished than it remembers")
	errAbandon  = errors.New("an earlier call with this id ended without a change: the document refused the update, or its condition did not hold")
	errNoAnswer = errors.New("the write concern is unacknowledged, so nobody knows whether a step was applied")
)

// run makes both steps.
func (t *twoSteps) run(ctx context.Context, id bson.ObjectID) (*mongo.UpdateResult, error) {
	changed := change{Update: t.update.value, ArrayFilters: t.options.arrayFilters}
	if !t.filter.only {
		changed.Filter = t.filter.document
	}
	token, err := newToken(id, changed)
	if err != nil {
		return nil, err
	}
	marked, result, err := t.mark(ctx, token)
	switch {
	case err != nil:
		return nil, &Error{t.name, id, stateAfter(err), err}
	case !result.Acknowledged:
		return nil, &Error{t.name, id, Unknown, errNoAnswer}
	case marked == finished:
		return result, nil
	case marked == abandoned:
		return nil, &Error{t.name, id, NotApplied, errAbandon}
	case marked != pending:
		return result, nil
	}
	return t.finish(ctx, id, changed, result)
}

// finish makes the second step, and returns the result of both.
func (t *twoSteps) finish(ctx context.Context, id bson.ObjectID, changed change, result *mongo.UpdateResult) (*mongo.UpdateResult, error) {
	ended, err := t.apply(ctx, t.filter, id, changed)
	switch {
	case err != nil && isRefused(err):
		if e := t.abandon(ctx, fixedID(t.filter.document), id); e != nil {
			return nil, &Error{t.name, id, Pending, err}
		}
		return nil, &Error{t.name, id, NotApplied, err}
	case err != nil:
		return nil, &Error{t.name, id, stateOfApply(err), err}
	case ended == abandoned:
		return &mongo.UpdateResult{Acknowledged: true}, nil
	case ended == none:
		return nil, &Error{t.name, id, Unknown, errVanished}
	}
	result.ModifiedCount = result.MatchedCount
	return result, nil
}

// mark is the first step. It returns where the token is, and a result.
func (t *twoSteps) mark(ctx context.Context, k token) (trace, *mongo.UpdateResult, error) {
	by := t.filter.and(t.done(), bson.D{{Key: "$ne", Value: k.ID}})
	with := bson.D{{Key: "$push", Value: bson.D{{Key: t.pending(), Value: k}}}}
	if t.update.onInsert != nil {
		with = append(with, bson.E{Key: "$setOnInsert", Value: t.update.onInsert})
	}
	var err error
	for range maxMarks {
		var result *mongo.UpdateResult
		var attempts int
		attempts, err = t.repeat(ctx, "once.mark", func(ctx context.Context) (err error) {
			result, err = t.source.UpdateOne(ctx, by, with, options.UpdateOne().SetUpsert(t.options.upsert))
			return err
		})
		switch {
		case err != nil && !isDuplicateID(err):
			return none, nil, err
		case err == nil && (result.MatchedCount+result.UpsertedCount > 0 || !result.Acknowledged):
			return pending, result, nil
		case err == nil && t.fresh && attempts == 1:
			return none, result, nil
		}
		// The document does not match because the token is finished, or for another reason.
		at, lookErr := t.look(ctx, fixedID(t.filter.document), k.ID)
		if lookErr != nil {
			return none, nil, lookErr
		}
		if at != none && at != absent {
			return at, &mongo.UpdateResult{MatchedCount: 1, ModifiedCount: 1, Acknowledged: true}, nil
		}
		if err == nil {
			return none, result, nil
		}
	}
	return none, nil, err
}

// apply is the second step, or finds out what another one has done. by has the conditions that must hold.
func (c *Collection) apply(ctx context.Context, by *filter, id bson.ObjectID, u change) (trace, error) {
	o := options.UpdateOne()
	if len(u.ArrayFilters) > 0 {
		filters := make([]any, len(u.ArrayFilters))
		for i, f := range u.ArrayFilters {
			filters[i] = f.Document()
		}
		o.SetArrayFilters(filters)
	}
	var result *mongo.UpdateResult
	_, err := c.repeat(ctx, "once.apply", func(ctx context.Context) (err error) {
		result, err = c.source.UpdateOne(ctx, by.and(c.pendingID(), id), c.second(u.Update, id), o)
		return err
	})
	switch {
	case err != nil:
		return none, err
	case result.MatchedCount > 0:
		return finished, nil
	}
	key := fixedID(by.document)
	if !by.only {
		if err := c.abandon(ctx, key, id); err != nil {
			return none, err
		}
	}
	at, err := c.look(ctx, key, id)
	if at == absent { // the document was deleted after the update
		at = finished
	}
	return at, err
}

// abandon ends an update without applying it, if it is pending.
func (c *Collection) abandon(ctx context.Context, key bson.RawValue, id bson.ObjectID) error {
	by := bson.D{{Key: "_id", Value: key}, {Key: c.pendingID(), Value: id}}
	with := bson.D{
		{Key: "$pull", Value: bson.D{{Key: c.pending(), Value: bson.D{{Key: "id", Value: id}}}}},
		{Key: "$push", Value: bson.D{{Key: c.done(), Value: c.newest(id)}, {Key: c.given(), Value: c.newest(id)}}},
	}
	_, err := c.repeat(ctx, "once.abandon", func(ctx context.Context) error {
		_, err := c.source.UpdateOne(ctx, by, with)
		return err
	})
	return err
}

// stateAfter returns what is known after the error of a first step, or of a write without a token.
func stateAfter(err error) State {
	var e *retry.Error
	if !errors.As(err, &e) || e.MayHaveApplied() || isConcern(err) {
		return Unknown
	}
	return NotApplied
}

// stateOfApply returns what is known after the error of a second step: the token is there unless the step was applied.
func stateOfApply(err error) State {
	if stateAfter(err) == NotApplied {
		return Pending
	}
	return Unknown
}

// fixedID returns the value of _id in a filter that fixes it.
func fixedID(document bson.Raw) bson.RawValue {
	v := document.Lookup("_id")
	if d, ok := v.DocumentOK(); ok {
		if of := d.Lookup("$eq"); !of.IsZero() {
			return of
		}
	}
	return v
}
