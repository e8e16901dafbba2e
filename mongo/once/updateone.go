package once

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// UpdateOne applies an update to one document exactly once. The filter must fix _id by equality; it may have other conditions, which must hold
// when the update is applied. Of the options, ArrayFilters and Upsert are supported; any other is an error. An upsert must have no condition but
// the _id.
//
// An update of idempotent operators alone, with at most one array filter, is sent as it is, if its filter has nothing but the _id, or one of
// [Options.UniqueKeys] that the update does not change. If the answer to its first attempt was lost, ModifiedCount or UpsertedCount may be 0
// though the document was modified or inserted.
//
// Of the result of other updates, ModifiedCount is 1 if a document was matched, because the tokens change. If the answer to an upsert was
// lost, UpsertedCount may be 0 though the document was inserted.
//
// The error of a write that was sent is an *[Error].
func (c *Collection) UpdateOne(ctx context.Context, filter, update any, opts ...options.Lister[options.UpdateOneOptions]) (*mongo.UpdateResult, error) {
	return c.updateOne(ctx, "UpdateOne", bson.NewObjectID(), filter, update, opts)
}

// UpdateOneAs is [Collection.UpdateOne] with a token id of the caller's. All calls with the same id together apply the update once: a program
// that got an error, or that was started again, may call it once more, with the same filter, update and options. If the document had refused
// the update, or the condition did not hold at the second step, it is told so again. The id belongs to the document: it may be used for one
// update of each of several documents. Idempotent operators are applied with a token too.
func (c *Collection) UpdateOneAs(
	ctx context.Context, id bson.ObjectID, filter, update any, opts ...options.Lister[options.UpdateOneOptions],
) (*mongo.UpdateResult, error) {
	if id.IsZero() {
		return nil, errors.New("once: the id of the token is zero")
	}
	return c.updateOne(ctx, "UpdateOneAs", id, filter, update, opts)
}

func (c *Collection) updateOne(
	ctx context.Context, name string, id bson.ObjectID, by, with any, opts []options.Lister[options.UpdateOneOptions],
) (*mongo.UpdateResult, error) {
	o, err := c.updateOptions(opts)
	if err != nil {
		return nil, err
	}
	u, err := c.parseUpdate(with)
	if err != nil {
		return nil, err
	}
	if u.natural && len(o.arrayFilters) <= mostFilters && name == "UpdateOne" {
		f, err := c.parseFilter(by, append([]string{"_id"}, c.unique...)...)
		if err != nil {
			return nil, err
		}
		if f.only { // a condition may hold no more when the update is repeated, which would be reported as no match
			return c.updateNaturally(ctx, f, u, o)
		}
	}
	f, err := c.parseFilter(by, "_id")
	if err != nil {
		return nil, err
	}
	if o.upsert {
		if err := f.checkUpsert(); err != nil {
			return nil, err
		}
	}
	t := &twoSteps{Collection: c, name: name, filter: f, update: u, options: o, fresh: name == "UpdateOne"}
	return t.run(ctx, id)
}

// mostFilters is how many array filters an idempotent update may have. Two can be $set: {"a.$[x]": 1, "a.$[y]": 2} with x equal to 2 and y
// equal to 1, which the second time undoes the first.
const mostFilters = 1

// updateNaturally sends an update that does no harm the second time.
func (c *Collection) updateNaturally(ctx context.Context, f *filter, u *update, o stepOptions) (*mongo.UpdateResult, error) {
	if f.name != "_id" && u.changes(f.name) {
		return nil, fmt.Errorf("%w: the update changes %s, by which the filter names the document", ErrNotExactlyOnce, f.name)
	}
	with := options.UpdateOne().SetUpsert(o.upsert)
	if len(o.arrayFilters) > 0 {
		with.SetArrayFilters(documents(o.arrayFilters))
	}
	result, _, err := c.send(ctx, "once.updateOne", f.document, u.value.Document(), with)
	return result, failed("UpdateOne", err)
}

// stepOptions are the options of an update that its steps support.
type stepOptions struct {
	arrayFilters []bson.RawValue
	upsert       bool
}

// updateOptions returns the options, or an error that names one that is not supported.
func (c *Collection) updateOptions(opts []options.Lister[options.UpdateOneOptions]) (o stepOptions, err error) {
	given, err := merged(opts)
	if err != nil {
		return o, err
	}
	for _, f := range []struct {
		name string
		set  bool
	}{
		{"BypassDocumentValidation", given.BypassDocumentValidation != nil},
		{"Collation", given.Collation != nil},
		{"Comment", given.Comment != nil},
		{"Hint", given.Hint != nil},
		{"Let", given.Let != nil},
		{"Sort", given.Sort != nil},
	} {
		if f.set {
			return o, fmt.Errorf("once: the option %s of UpdateOne is not supported", f.name)
		}
	}
	o.upsert = given.Upsert != nil && *given.Upsert
	o.arrayFilters, err = c.encodeAll(given.ArrayFilters)
	return o, err
}

// merged returns the options of all listers; the later ones win.
func merged[O any](opts []options.Lister[O]) (given O, err error) {
	for _, lister := range opts {
		if lister == nil {
			continue
		}
		for _, set := range lister.List() {
			if err := set(&given); err != nil {
				return given, err
			}
		}
	}
	return given, nil
}

// failed returns the error of a write that has no token.
func failed(name string, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Operation: name, State: stateAfter(err), Err: err}
}
