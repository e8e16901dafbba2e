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

// maxMarks is how often an upsert tries its first step while other updates insert the same _id.
const maxMarks = 4

var (
	errVanished  = errors.New("the token is neither pending nor finished: the document was deleted, replaced or rolled back, or more updates have finished than it remembers")
	errRefused   = errors.New("the document refused the update of an earlier call with this id")
	errUnmatched = errors.New("the document does not match, but an attempt without an answer may still come, when it matches")
	errMarked    = errors.New("another call with this id has made the update pending again")
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
	case marked == pending:
		marked, err = t.finish(ctx, id, changed)
	}
	return t.outcome(id, marked, result, err)
}

// finish makes the second step, and ends the update if the document refuses it. It returns where the token then is.
func (t *twoSteps) finish(ctx context.Context, id bson.ObjectID, changed change) (trace, error) {
	ended, err := t.apply(ctx, t.filter, id, changed)
	if !isRefused(err) {
		return ended, err
	}
	ended, endErr := t.end(ctx, t.filter.key, id, refused)
	switch {
	case endErr != nil:
		return none, errors.Join(endErr, err)
	case ended == refused:
		return refused, err
	}
	return ended, nil // the document has changed, and another one has applied the update
}

// outcome returns what the caller is told, by the place of the token. result is that of the first step.
func (t *twoSteps) outcome(id bson.ObjectID, ended trace, result *mongo.UpdateResult, err error) (*mongo.UpdateResult, error) {
	switch {
	case ended == refused && err == nil:
		return nil, &Error{t.name, id, NotApplied, errRefused}
	case ended == refused:
		return nil, &Error{t.name, id, NotApplied, err}
	case err != nil:
		return nil, &Error{t.name, id, stateOfApply(err), err}
	case ended == finished:
		result.ModifiedCount = result.MatchedCount
		return result, nil
	case ended == abandoned, result.MatchedCount+result.UpsertedCount == 0:
		return &mongo.UpdateResult{Acknowledged: true}, nil
	case ended == pending:
		return nil, &Error{t.name, id, Pending, errMarked}
	}
	return nil, &Error{t.name, id, Unknown, errVanished}
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
		result, attempts, err = t.send(ctx, "once.mark", by, marshal(with), options.UpdateOne().SetUpsert(t.options.upsert))
		switch {
		case err != nil && !isDuplicateID(err):
			return none, nil, err
		case err == nil && result.MatchedCount+result.UpsertedCount > 0:
			return pending, result, nil
		case err == nil && t.fresh && attempts == 1:
			return none, result, nil
		}
		// No document matched. The update may have been finished by another call, or the filter does not match.
		at, lookErr := t.look(ctx, t.filter.key, k.ID)
		if lookErr != nil {
			return none, nil, lookErr
		}
		switch {
		case at != none && at != absent:
			return at, &mongo.UpdateResult{MatchedCount: 1, Acknowledged: true}, nil
		case err == nil && attempts == 1:
			return none, result, nil
		case err == nil:
			return none, nil, errUnmatched
		}
	}
	return none, nil, err
}

// apply is the second step, or finds out what another one has done. by has the conditions that must hold.
func (c *Collection) apply(ctx context.Context, by *filter, id bson.ObjectID, u change) (trace, error) {
	o := options.UpdateOne()
	if len(u.ArrayFilters) > 0 {
		o.SetArrayFilters(documents(u.ArrayFilters))
	}
	result, _, err := c.send(ctx, "once.apply", by.and(c.pendingID(), id), c.second(u.Update, id), o)
	switch {
	case err != nil:
		return none, err
	case result.MatchedCount > 0:
		return finished, nil
	case by.only:
		return c.look(ctx, by.key, id)
	}
	return c.end(ctx, by.key, id, abandoned)
}

// end ends an update without applying it, if it is pending. It returns where the token then is.
func (c *Collection) end(ctx context.Context, key bson.RawValue, id bson.ObjectID, as trace) (trace, error) {
	list := c.given()
	if as == refused {
		list = c.refused()
	}
	by := bson.D{{Key: "_id", Value: key}, {Key: c.pendingID(), Value: id}}
	with := bson.D{
		{Key: "$pull", Value: bson.D{{Key: c.pending(), Value: bson.D{{Key: "id", Value: id}}}}},
		{Key: "$push", Value: bson.D{{Key: c.done(), Value: c.newest(id)}, {Key: list, Value: c.newest(id)}}},
	}
	result, _, err := c.send(ctx, "once.end", marshal(by), marshal(with), options.UpdateOne())
	switch {
	case err != nil:
		return none, err
	case result.MatchedCount > 0:
		return as, nil
	}
	return c.look(ctx, key, id)
}

// send sends an update that does no harm the second time, and returns how many attempts were made.
func (c *Collection) send(
	ctx context.Context, name string, by bson.Raw, with any, o *options.UpdateOneOptionsBuilder,
) (result *mongo.UpdateResult, attempts int, err error) {
	attempts, err = c.repeat(ctx, name, func(ctx context.Context) (err error) {
		result, err = c.source.UpdateOne(ctx, by, with, o)
		return acknowledged(err == nil && result.Acknowledged, err)
	})
	return result, attempts, err
}

// stateAfter returns what is known after the error of a first step, or of a write without a token.
func stateAfter(err error) State {
	var e *retry.Error
	if errors.As(err, new(lookError)) || !errors.As(err, &e) || e.MayHaveApplied() || isConcern(err) {
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
