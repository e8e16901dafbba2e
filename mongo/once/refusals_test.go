package once_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongo/once"
)

type panics struct{}

func (panics) MarshalBSON() ([]byte, error) { panic("oh") }

// An argument that cannot be applied exactly once, or at all, is refused before anything is sent.
func TestRefusals(t *testing.T) {
	push := d("$push", d("q", 1))
	for _, c := range []struct {
		name           string
		filter, update any
		opts           *options.UpdateOneOptionsBuilder
		text           string
		exactly        bool // the error matches ErrNotExactlyOnce
	}{
		{"a nil filter", nil, push, nil, "the filter is nil", false},
		{"a filter that is a number", 1, push, nil, "the filter", false},
		{"a marshaler that panics", panics{}, push, nil, "its marshaler panicked in ", false},
		{"an empty filter", bson.D{}, push, nil, "must fix _id by equality", true},
		{"a filter by another field", d("n", 1), push, nil, "must fix _id by equality", true},
		{"a unique key with an update that has two steps", d("key", 1), push, nil, "must fix _id by equality", true},
		{"an _id that is an array", d("_id", bson.A{1}), push, nil, "must fix _id by equality", true},
		{"an _id that equals an array", d("_id", d("$eq", bson.A{1})), push, nil, "must fix _id by equality", true},
		{"an _id that equals an operator", d("_id", d("$eq", d("$gt", 1))), push, nil, "must fix _id by equality", true},
		{"an _id that equals a pattern", d("_id", d("$eq", bson.Regex{Pattern: "a"})), push, nil, "must fix _id by equality", true},
		{"a field of the _id", d("_id.a", 1), push, nil, "must fix _id by equality", true},
		{"an _id that is a map of several keys", d("_id", bson.M{"a": 1, "b": 2}), push, nil, "a map of several keys", true},
		{"an _id with a map of several keys", bson.M{"_id": d("k", bson.A{map[string]int{"a": 1, "b": 2}})}, push, nil, "a map of several keys", true},
		{"a unique key that equals an array", d("key", d("$eq", bson.A{1})), d("$set", d("a", 1)), nil, "must fix _id or key", true},
		{"a unique key that equals null", d("key", d("$eq", nil)), d("$set", d("a", 1)), nil, "must fix _id or key", true},
		{"a unique key that the update sets", d("key", 1), d("$set", d("key", 2)), nil, "the update changes key", true},
		{"a unique key that the update removes", d("key", 1), d("$set", d("a", 1), "$unset", d("key", "")), nil, "the update changes key", true},
		{"a unique key that the update renames", d("key", 1), d("$rename", d("a", "key.x")), nil, "the update changes key", true},
		{"an empty filter as bytes", []byte{5, 0, 0, 0, 0}, push, nil, "must fix _id by equality", true},
		{"a filter of malformed bytes", []byte{9, 0, 0, 0, 16, 0}, push, nil, "the filter", false},
		{"a filter of no bytes", bson.Raw(nil), push, nil, "the filter", false},
		{"a filter that is a nil map", bson.M(nil), push, nil, "the filter", false},
		{"an operator twice", one, d("$inc", d("n", 1), "$push", d("q", 1), "$inc", d("m", 1)), nil, "the operator $inc twice", false},
		{"an _id with an operator", d("_id", d("$gt", 1)), push, nil, "must fix _id by equality", true},
		{"an _id with two operators", d("_id", d("$eq", 1, "$gt", 0)), push, nil, "must fix _id by equality", true},
		{"an _id that is a pattern", d("_id", bson.Regex{Pattern: "a"}), push, nil, "must fix _id by equality", true},
		{"a condition on the tokens", d("_id", 1, "_once.pending", d("$exists", false)), push, nil, `"_once.pending"`, true},
		{"a condition on the tokens within $or", d("_id", 1, "$or", bson.A{d("_once", 1)}), push, nil, `"_once"`, true},
		{"an idempotent update by a field that is not unique", d("n", 1), d("$set", d("a", 1)), nil, "must fix _id or key by equality", true},
		{"an idempotent update by a unique key that is null", d("key", nil), d("$set", d("a", 1)), nil, "must fix _id or key", true},
		{"a nil update", one, nil, nil, "the update is nil", false},
		{"an empty update", one, bson.D{}, nil, "the update is empty", false},
		{"an empty pipeline", one, bson.A{}, nil, "empty pipeline", false},
		{"a replacement", one, d("n", 1), nil, "replacement", true},
		{"an operator without a document", one, d("$inc", 1), nil, "the argument of $inc", false},
		{"an update of the tokens", one, d("$push", d("_once.pending", 1)), nil, `the field "_once" holds the tokens`, true},
		{"a rename to the tokens", one, d("$rename", d("a", "_once")), nil, `the field "_once" holds the tokens`, true},
		{"the positional operator", one, d("$inc", d("q.$", 1)), nil, "arrayFilters", true},
		{"a pipeline that replaces", one, bson.A{d("$replaceWith", d("a", 1))}, nil, "stage 0 of the pipeline", true},
		{"a pipeline that projects", one, bson.A{d("$set", d("a", 1)), d("$project", d("a", 1))}, nil, "stage 1 of the pipeline", true},
		{"a pipeline that removes the tokens", one, bson.A{d("$unset", bson.A{"a", "_once"})}, nil, `stage 0 of the pipeline changes "_once"`, true},
		{"an upsert with a condition", d("_id", 1, "n", 1), push, upsert, "the filter of an upsert", true},
		{"a hint after another option", one, push, options.UpdateOne().SetUpsert(true).SetHint("_id_"), "Hint", false},
		{"a hint", one, push, options.UpdateOne().SetHint("_id_"), "Hint", false},
		{"a collation", one, push, options.UpdateOne().SetCollation(&options.Collation{Locale: "en"}), "Collation", false},
		{"a nil array filter", one, push, options.UpdateOne().SetArrayFilters([]any{nil}), "array filter 0 is nil", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, once.Options{UniqueKeys: []string{"key"}}, func(w *world) {
				m := w.record(nil)
				var opts []options.Lister[options.UpdateOneOptions]
				if c.opts != nil {
					opts = append(opts, c.opts)
				}
				_, err := w.UpdateOne(w.t.Context(), c.filter, c.update, opts...)
				if err == nil || !strings.Contains(err.Error(), c.text) || errors.Is(err, once.ErrNotExactlyOnce) != c.exactly {
					w.t.Errorf("%v; want a text with %q", err, c.text)
				}
				if m.count() != 0 {
					w.t.Error("something was sent")
				}
			})
		})
	}
}

func TestRefusalsOfTheOtherWrites(t *testing.T) {
	inWorld(t, once.Options{}, func(w *world) {
		ctx := w.t.Context()
		if _, err := w.UpdateMany(ctx, bson.D{}, increment); !errors.Is(err, once.ErrNotExactlyOnce) {
			w.t.Errorf("UpdateMany: %v", err)
		}
		if _, err := w.DeleteOne(ctx, d("n", 1)); !errors.Is(err, once.ErrNotExactlyOnce) {
			w.t.Errorf("DeleteOne: %v", err)
		}
		if _, err := w.UpdateOneAs(ctx, bson.ObjectID{}, one, increment); err == nil || !strings.Contains(err.Error(), "zero") {
			w.t.Errorf("UpdateOneAs: %v", err)
		}
		if _, err := w.Sweep(ctx, once.SweepOptions{}); err == nil || !strings.Contains(err.Error(), "OlderThan") {
			w.t.Errorf("Sweep: %v", err)
		}
		for name, o := range map[string]*options.UpdateManyOptionsBuilder{
			"an upsert that could insert twice": options.UpdateMany().SetUpsert(true),
			"two array filters":                 options.UpdateMany().SetArrayFilters([]any{d("a", 1), d("b", 2)}),
		} {
			if _, err := w.UpdateMany(ctx, d("n", 1), d("$set", d("n", 2)), o); !errors.Is(err, once.ErrNotExactlyOnce) {
				w.t.Errorf("UpdateMany, %s: %v", name, err)
			}
		}
		if _, err := w.UpdateMany(ctx, one, d("$set", d("n", 2)), options.UpdateMany().SetUpsert(true)); err != nil {
			w.t.Errorf("UpdateMany, an upsert by _id: %v", err)
		}
		insensitive := options.DeleteOne().SetCollation(&options.Collation{Locale: "en", Strength: 2})
		if _, err := w.DeleteOne(ctx, d("_id", "a"), insensitive); !errors.Is(err, once.ErrNotExactlyOnce) {
			w.t.Errorf("DeleteOne with a collation: %v", err)
		}
		if _, err := w.Sweep(ctx, once.SweepOptions{OlderThan: time.Second, BatchSize: -1}); err == nil || !strings.Contains(err.Error(), "BatchSize") {
			w.t.Errorf("Sweep: %v", err)
		}
		for name, write := range map[string]func() error{
			"Find":       func() error { _, err := w.Find(ctx, nil); return err },
			"DeleteMany": func() error { _, err := w.DeleteMany(ctx, panics{}); return err },
			"UpdateMany": func() error { _, err := w.UpdateMany(ctx, 1, d("$set", d("a", 1))); return err },
		} {
			if err := write(); err == nil || !strings.Contains(err.Error(), "once: the filter") {
				w.t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := w.InsertOne(ctx, nil); err == nil || !strings.Contains(err.Error(), "nil") {
			w.t.Errorf("InsertOne: %v", err)
		}
	})
}

func TestOptions(t *testing.T) {
	client, err := mongo.Connect(options.Client().ApplyURI("mongodb://127.0.0.1:1"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Disconnect(t.Context()) }()
	coll := client.Database("d").Collection("c")
	for _, c := range []struct {
		o    once.Options
		text string
	}{
		{once.Options{}, ""},
		{once.Options{Field: "tokens", Finished: 10000, UniqueKeys: []string{"a.b"}}, ""},
		{once.Options{Field: "_id"}, "Options.Field"},
		{once.Options{Field: "a.b"}, "Options.Field"},
		{once.Options{Field: "$a"}, "Options.Field"},
		{once.Options{Finished: -1}, "Options.Finished"},
		{once.Options{Finished: 10001}, "Options.Finished"},
		{once.Options{UniqueKeys: []string{""}}, "Options.UniqueKeys"},
	} {
		_, err := once.New(coll, c.o)
		if (err == nil) != (c.text == "") || err != nil && !strings.Contains(err.Error(), c.text) {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
	var none *mongo.Collection
	if _, err := once.New(none, once.Options{}); err == nil {
		t.Error("a nil collection is taken")
	}
}
