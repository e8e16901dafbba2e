package once

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Find runs a find, once more after a network error. The cursor that it returns is the client's; reading it further is not repeated.
func (c *Collection) Find(ctx context.Context, filter any, opts ...options.Lister[options.FindOptions]) (cursor Cursor, err error) {
	by, err := c.encode("filter", filter, false)
	if err != nil {
		return nil, err
	}
	_, err = c.repeat(ctx, "once.find", func(ctx context.Context) (err error) {
		cursor, err = c.source.find(ctx, by.Document(), opts...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return cursor, nil
}

// InsertOne inserts a document exactly once. A document without an _id gets an ObjectID. An _id of the caller's must be there: then a duplicate
// key after a lost answer means that the first attempt inserted the document, if it has the same content; if it has another, the state is
// [Unknown]. The error of an insert that was sent is an *[Error].
func (c *Collection) InsertOne(ctx context.Context, document any, opts ...options.Lister[options.InsertOneOptions]) (*mongo.InsertOneResult, error) {
	encoded, err := c.encode("document", document, false)
	if err != nil {
		return nil, err
	}
	raw, own := encoded.Document(), true
	if raw.Lookup("_id").IsZero() {
		raw, own = withID(raw), false
	}
	var result *mongo.InsertOneResult
	attempts, err := c.repeat(ctx, "once.insertOne", func(ctx context.Context) (err error) {
		result, err = c.source.InsertOne(ctx, raw, opts...)
		return acknowledged(err == nil && result.Acknowledged, err)
	})
	switch {
	case err == nil:
		return result, nil
	case attempts == 1 || !isDuplicateID(err):
		return nil, failed("InsertOne", err)
	}
	if own {
		found, lookErr := c.read(ctx, raw.Lookup("_id"), options.Find())
		if lookErr != nil || !sameFields(found, raw) {
			return nil, &Error{Operation: "InsertOne", State: Unknown, Err: errors.Join(err, lookErr)}
		}
	}
	var id any
	if err := raw.Lookup("_id").Unmarshal(&id); err != nil {
		return nil, err
	}
	return &mongo.InsertOneResult{InsertedID: id, Acknowledged: true}, nil
}

// withID returns a document with a new _id in front.
func withID(document bson.Raw) bson.Raw {
	return marshal(append(bson.D{{Key: "_id", Value: bson.NewObjectID()}}, fieldsOf(document)...))
}

// sameFields reports whether two documents are equal. The server puts _id first.
func sameFields(a, b bson.Raw) bool {
	one, other := elementsOf(a), elementsOf(b)
	if len(one) != len(other) {
		return false
	}
	for _, e := range one {
		if v := b.Lookup(e.Key()); v.IsZero() || !v.Equal(e.Value()) {
			return false
		}
	}
	return true
}

// DeleteOne deletes one document. The filter must fix _id, or one of [Options.UniqueKeys], by equality. If the answer to the first attempt was
// lost, the DeletedCount may be 0 though the document was deleted. The option Collation is an error: by another collation than that of its
// index, two documents can have one key.
func (c *Collection) DeleteOne(ctx context.Context, filter any, opts ...options.Lister[options.DeleteOneOptions]) (result *mongo.DeleteResult, err error) {
	given, err := merged(opts)
	if err != nil {
		return nil, err
	}
	if given.Collation != nil {
		return nil, fmt.Errorf("%w: the option Collation of DeleteOne is not supported", ErrNotExactlyOnce)
	}
	f, err := c.parseFilter(filter, append([]string{"_id"}, c.unique...)...)
	if err != nil {
		return nil, err
	}
	_, err = c.repeat(ctx, "once.deleteOne", func(ctx context.Context) (err error) {
		result, err = c.source.DeleteOne(ctx, f.document, opts...)
		return acknowledged(err == nil && result.Acknowledged, err)
	})
	return result, failed("DeleteOne", err)
}

// DeleteMany deletes all documents that match. If the answer to the first attempt was lost, the DeletedCount is that of the second one.
func (c *Collection) DeleteMany(ctx context.Context, filter any, opts ...options.Lister[options.DeleteManyOptions]) (result *mongo.DeleteResult, err error) {
	by, err := c.encode("filter", filter, false)
	if err != nil {
		return nil, err
	}
	_, err = c.repeat(ctx, "once.deleteMany", func(ctx context.Context) (err error) {
		result, err = c.source.DeleteMany(ctx, by.Document(), opts...)
		return acknowledged(err == nil && result.Acknowledged, err)
	})
	return result, failed("DeleteMany", err)
}

// UpdateMany applies an update of idempotent operators to all documents that match. Any other update is an error that matches
// [ErrNotExactlyOnce]: nobody knows which documents the first attempt has changed. So are two array filters, and an upsert whose filter has more
// than the _id: it could insert twice.
func (c *Collection) UpdateMany(ctx context.Context, filter, update any, opts ...options.Lister[options.UpdateManyOptions]) (result *mongo.UpdateResult, err error) {
	u, err := c.parseUpdate(update)
	if err != nil {
		return nil, err
	}
	given, err := merged(opts)
	if err != nil {
		return nil, err
	}
	if !u.natural || len(given.ArrayFilters) > mostFilters {
		return nil, fmt.Errorf("%w: the update of many documents has an operator that is not idempotent, or more than %d array filter", ErrNotExactlyOnce, mostFilters)
	}
	by, err := c.parseMany(filter, given.Upsert != nil && *given.Upsert)
	if err != nil {
		return nil, err
	}
	filters, err := c.encodeAll(given.ArrayFilters)
	if err != nil {
		return nil, err
	}
	if len(filters) > 0 {
		opts = append(slices.Clip(opts), options.UpdateMany().SetArrayFilters(documents(filters)))
	}
	_, err = c.repeat(ctx, "once.updateMany", func(ctx context.Context) (err error) {
		result, err = c.source.UpdateMany(ctx, by, u.value.Document(), opts...)
		return acknowledged(err == nil && result.Acknowledged, err)
	})
	return result, failed("UpdateMany", err)
}

// parseMany checks the filter of UpdateMany.
func (c *Collection) parseMany(filter any, upsert bool) (bson.Raw, error) {
	if !upsert {
		encoded, err := c.encode("filter", filter, false)
		return encoded.Value, err
	}
	f, err := c.parseFilter(filter, "_id")
	if err != nil {
		return nil, err
	}
	return f.document, f.checkUpsert()
}
