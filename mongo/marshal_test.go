package mongo_test

import (
	"reflect"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
)

// bomb panics when it is encoded, as a faulty marshaler of an application does.
type bomb struct{}

func (bomb) MarshalBSONValue() (byte, []byte, error) { panic("bomb") }

// explodes reports whether f panics. It recovers, as an application's HTTP server does.
func explodes(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

// After a panic of a marshaler, the next operations are as if it had not happened.
func TestAPanickingMarshalerLeavesNothingBehind(t *testing.T) {
	t.Run("no options", func(t *testing.T) { panicEverywhere(t, nil) })
	t.Run("an option", func(t *testing.T) {
		panicEverywhere(t, func(o *options.ClientOptions) { o.SetBSONOptions(&options.BSONOptions{NilSliceAsEmpty: true}) })
	})
}

func panicEverywhere(t *testing.T, configure func(*options.ClientOptions)) {
	in(t, configure, func(w *world) {
		ok, bad := d{}, doc("before", strings.Repeat("x", 100), "bomb", bomb{}, "after", 1)
		badUpdate, update, array := doc("$set", bad), doc("$set", doc("a", 1)), []any{bad}
		badMap := map[int]any{1: bomb{}} // the general encoder encodes it
		for _, c := range []struct {
			name string
			run  func()
		}{
			{"InsertOne document", func() { _, _ = w.coll.InsertOne(w.ctx, bad) }},
			{"InsertOne map", func() { _, _ = w.coll.InsertOne(w.ctx, badMap) }},
			{"InsertOne comment", func() { _, _ = w.coll.InsertOne(w.ctx, ok, options.InsertOne().SetComment(bad)) }},
			{"InsertMany document", func() { _, _ = w.coll.InsertMany(w.ctx, []any{ok, bad}) }},
			{"InsertMany comment", func() { _, _ = w.coll.InsertMany(w.ctx, []any{ok}, options.InsertMany().SetComment(bad)) }},
			{"FindOne filter", func() { w.coll.FindOne(w.ctx, bad) }},
			{"FindOne filter map", func() { w.coll.FindOne(w.ctx, badMap) }},
			{"FindOne sort", func() { w.coll.FindOne(w.ctx, ok, options.FindOne().SetSort(bad)) }},
			{"FindOne projection", func() { w.coll.FindOne(w.ctx, ok, options.FindOne().SetProjection(bad)) }},
			{"FindOne hint", func() { w.coll.FindOne(w.ctx, ok, options.FindOne().SetHint(bad)) }},
			{"FindOne min", func() { w.coll.FindOne(w.ctx, ok, options.FindOne().SetMin(bad)) }},
			{"FindOne max", func() { w.coll.FindOne(w.ctx, ok, options.FindOne().SetMax(bad)) }},
			{"FindOne comment", func() { w.coll.FindOne(w.ctx, ok, options.FindOne().SetComment(bad)) }},
			{"Find filter", func() { _, _ = w.coll.Find(w.ctx, bad) }},
			{"Find let", func() { _, _ = w.coll.Find(w.ctx, ok, options.Find().SetLet(bad)) }},
			{"Find comment", func() { _, _ = w.coll.Find(w.ctx, ok, options.Find().SetComment(bad)) }},
			{"UpdateOne filter", func() { _, _ = w.coll.UpdateOne(w.ctx, bad, update) }},
			{"UpdateOne update", func() { _, _ = w.coll.UpdateOne(w.ctx, ok, badUpdate) }},
			{"UpdateOne pipeline", func() { _, _ = w.coll.UpdateOne(w.ctx, ok, mongo.Pipeline{badUpdate}) }},
			{"UpdateOne arrayFilters", func() { _, _ = w.coll.UpdateOne(w.ctx, ok, update, options.UpdateOne().SetArrayFilters(array)) }},
			{"UpdateOne hint", func() { _, _ = w.coll.UpdateOne(w.ctx, ok, update, options.UpdateOne().SetHint(bad)) }},
			{"UpdateOne let", func() { _, _ = w.coll.UpdateOne(w.ctx, ok, update, options.UpdateOne().SetLet(bad)) }},
			{"UpdateOne sort", func() { _, _ = w.coll.UpdateOne(w.ctx, ok, update, options.UpdateOne().SetSort(bad)) }},
			{"UpdateOne comment", func() { _, _ = w.coll.UpdateOne(w.ctx, ok, update, options.UpdateOne().SetComment(bad)) }},
			{"UpdateByID id", func() { _, _ = w.coll.UpdateByID(w.ctx, bomb{}, update) }},
			{"UpdateByID update", func() { _, _ = w.coll.UpdateByID(w.ctx, 1, badUpdate) }},
			{"ReplaceOne filter", func() { _, _ = w.coll.ReplaceOne(w.ctx, bad, ok) }},
			{"ReplaceOne replacement", func() { _, _ = w.coll.ReplaceOne(w.ctx, ok, bad) }},
			{"ReplaceOne let", func() { _, _ = w.coll.ReplaceOne(w.ctx, ok, ok, options.Replace().SetLet(bad)) }},
			{"DeleteOne filter", func() { _, _ = w.coll.DeleteOne(w.ctx, bad) }},
			{"DeleteOne hint", func() { _, _ = w.coll.DeleteOne(w.ctx, ok, options.DeleteOne().SetHint(bad)) }},
			{"DeleteOne let", func() { _, _ = w.coll.DeleteOne(w.ctx, ok, options.DeleteOne().SetLet(bad)) }},
			{"DeleteOne comment", func() { _, _ = w.coll.DeleteOne(w.ctx, ok, options.DeleteOne().SetComment(bad)) }},
			{"FindOneAndUpdate filter", func() { w.coll.FindOneAndUpdate(w.ctx, bad, update) }},
			{"FindOneAndUpdate update", func() { w.coll.FindOneAndUpdate(w.ctx, ok, badUpdate) }},
			{"FindOneAndUpdate pipeline", func() { w.coll.FindOneAndUpdate(w.ctx, ok, mongo.Pipeline{badUpdate}) }},
			{"FindOneAndUpdate sort", func() { w.coll.FindOneAndUpdate(w.ctx, ok, update, options.FindOneAndUpdate().SetSort(bad)) }},
			{"FindOneAndUpdate projection", func() { w.coll.FindOneAndUpdate(w.ctx, ok, update, options.FindOneAndUpdate().SetProjection(bad)) }},
			{"RunCommand", func() { w.client.Database("test").RunCommand(w.ctx, doc("ping", bomb{})) }},
			{"SetComment of a cursor", func() {
				cursor, err := w.coll.Find(w.ctx, ok, options.Find().SetBatchSize(1))
				w.must(err)
				defer cursor.Close(w.ctx)
				cursor.SetComment(bad)
				for cursor.Next(w.ctx) {
				}
			}},
		} {
			_, err := w.coll.InsertMany(w.ctx, []any{d{}, d{}, d{}})
			w.must(err)
			if !explodes(c.run) {
				t.Errorf("%s: no panic", c.name)
			}
			for _, document := range []any{doc("a", 1), map[string]any{"a": int32(1)}, map[int]int32{1: 1}} { // by both encoders
				inserted, err := w.coll.InsertOne(w.ctx, document)
				if err != nil {
					t.Fatalf("%s: the next InsertOne: %v", c.name, err)
				}
				var found bson.M
				if err := w.coll.FindOne(w.ctx, doc("_id", inserted.InsertedID)).Decode(&found); err != nil || len(found) != 2 {
					t.Fatalf("%s: the document after it: %v, %v", c.name, found, err)
				}
			}
			if _, err := w.coll.UpdateOne(w.ctx, map[int]int{}, doc("$inc", map[int]int{7: 1})); err != nil {
				t.Fatalf("%s: the next UpdateOne: %v", c.name, err)
			}
		}
	})
}

type upperID string

// Source: the official driver decodes the _id of an inserted document with the client's registry and options.
func TestTheInsertedIDIsDecodedByTheRegistryInUse(t *testing.T) {
	registry := bson.NewRegistry()
	registry.RegisterTypeMapEntry(bson.TypeString, reflect.TypeFor[upperID]())
	for _, c := range []struct {
		name      string
		configure func(*options.ClientOptions)
		id, want  any
	}{
		{"no options", nil, "x", "x"},
		{"a registry", func(o *options.ClientOptions) { o.SetRegistry(registry) }, "x", upperID("x")},
		{
			"an option", func(o *options.ClientOptions) { o.SetBSONOptions(&options.BSONOptions{DefaultDocumentM: true}) },
			doc("a", "b"),
			bson.M{"a": "b"},
		},
		{
			"binary as a slice", func(o *options.ClientOptions) { o.SetBSONOptions(&options.BSONOptions{BinaryAsSlice: true}) },
			[]byte("id"), []byte("id"),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, c.configure, func(w *world) {
				one, err := w.coll.InsertOne(w.ctx, doc("a", 1, "_id", c.id))
				if err != nil || !reflect.DeepEqual(one.InsertedID, c.want) {
					t.Errorf("InsertOne: %#v, %v", one, err)
				}
				_, err = w.coll.DeleteOne(w.ctx, d{})
				w.must(err)
				many, err := w.coll.InsertMany(w.ctx, []any{doc("_id", c.id)})
				if err != nil || !reflect.DeepEqual(many.InsertedIDs, []any{c.want}) {
					t.Errorf("InsertMany: %#v, %v", many, err)
				}
			})
		})
	}
}

func TestATagOfADashAndACommaIsAName(t *testing.T) {
	in(t, nil, func(w *world) {
		type named struct {
			Dash   string `bson:"-,omitempty"`
			Hidden string `bson:"-"`
		}
		inserted, err := w.coll.InsertOne(w.ctx, named{Dash: "x", Hidden: "y"})
		w.must(err)
		var raw bson.M
		var back named
		found := w.coll.FindOne(w.ctx, doc("_id", inserted.InsertedID))
		w.must(found.Decode(&raw))
		w.must(found.Decode(&back))
		if raw["-"] != "x" || len(raw) != 2 || back != (named{Dash: "x"}) {
			t.Errorf("%v, %+v", raw, back)
		}
	})
}
