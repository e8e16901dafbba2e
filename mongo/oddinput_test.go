package mongo_test

import (
	"errors"
	"reflect"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
)

// cutShort says that it is a document, but is not.
type cutShort struct{}

func (cutShort) MarshalBSON() ([]byte, error) { return []byte{5, 0, 0, 0}, nil }

// Each error is found before anything is sent, and names the wrong field.
func TestOddInputIsRefusedBeforeItIsSent(t *testing.T) {
	in(t, nil, func(w *world) {
		update := func(u any) error {
			_, err := w.coll.UpdateOne(w.ctx, d{}, u)
			return err
		}
		insertInto := func(coll *mongo.Collection) error {
			_, err := coll.InsertOne(w.ctx, doc("_id", 1))
			return err
		}
		aggregate := func(coll *mongo.Collection) error {
			_, err := coll.Aggregate(w.ctx, mongo.Pipeline{})
			return err
		}
		_, byID := w.coll.UpdateByID(w.ctx, cutShort{}, set1)
		_, withOptions := w.client.Database("db", options.Database().SetBSONOptions(&options.BSONOptions{OmitEmpty: true})).
			Collection("c").InsertOne(w.ctx, doc("a", cutShort{}))
		_, let := w.coll.Find(w.ctx, d{}, options.Find().SetLet("no document"))
		_, many := w.coll.InsertMany(w.ctx, []any{doc("_id", 1), 7})
		noName := w.client.Database("")
		for _, c := range []struct {
			name string
			err  error
			text string
		}{
			{"an id whose marshaler returns no document", byID, "cannot marshal type bson.D to a BSON Document: mongo_test.cutShort.MarshalBSON: the bytes are no BSON value of their type"},
			{"a marshaler that returns no document, with BSON options", withOptions, "cannot marshal type bson.D to a BSON Document: "},
			{"a nil stage of an update", update(bson.A{nil}), "document is nil"},
			{"a number as a stage of an update", update([]int{1}), "cannot marshal type int to a BSON Document"},
			{"a database without a name", insertInto(noName.Collection("c")), "database name cannot be empty"},
			{"a command of a database without a name", noName.RunCommand(w.ctx, doc("ping", 1)).Err(), "database name cannot be empty"},
			{"dropping a database without a name", noName.Drop(w.ctx), "database name cannot be empty"},
			{"a collection without a name", insertInto(w.client.Database("db").Collection("")), "collection name cannot be empty"},
			{"an aggregate on a collection without a name", aggregate(w.client.Database("db").Collection("")), "collection name cannot be empty"},
			{"an option that is no document", let, "cannot marshal type string to a BSON Document: let: "},
			{"a document of several that is no document", many, "cannot marshal type int to a BSON Document: document 1: "},
		} {
			if c.err == nil || len(c.err.Error()) < len(c.text) || c.err.Error()[:len(c.text)] != c.text {
				t.Errorf("%s: %v", c.name, c.err)
			}
		}
		for name, err := range map[string]error{"let": let, "many": many, "byID": byID} {
			if reflect.TypeOf(err) != reflect.TypeFor[mongo.MarshalError]() {
				t.Errorf("%s: the concrete type is %T", name, err)
			}
		}
		if n := len(w.started("")); n != 0 {
			t.Errorf("%d commands were sent", n)
		}
	})
}

// The official driver accepts these, and so do we.
func TestOddInputThatTheOfficialDriverAccepts(t *testing.T) {
	in(t, nil, func(w *world) {
		w.insert(1)
		missing := &options.FindOneOptionsBuilder{Opts: []func(*options.FindOneOptions) error{nil}}
		if err := w.coll.FindOne(w.ctx, d{}, missing).Err(); err != nil {
			t.Errorf("a builder with a nil function: %v", err)
		}
		for _, pipeline := range []any{d{}, d(nil), bson.Raw{}, bson.Raw(nil)} {
			cursor, err := w.coll.Aggregate(w.ctx, pipeline)
			w.must(err)
			if !cursor.Next(w.ctx) {
				t.Errorf("%T: an empty document is an empty pipeline: %v", pipeline, cursor.Err())
			}
		}
		for _, update := range []any{bson.A(nil), []any(nil), bson.A{}, mongo.Pipeline(nil)} {
			if r, err := w.coll.UpdateOne(w.ctx, doc("_id", 1), update); err != nil || r.MatchedCount != 1 {
				t.Errorf("%T: an update without stages: %v", update, err)
			}
		}
	})
}

// The reply of a refused command is the result's bytes, and an update of several documents always has a result.
func TestResultsWithErrors(t *testing.T) {
	in(t, nil, func(w *world) {
		w.insert(1)
		reply, err := w.client.Database("db").RunCommand(w.ctx, doc("nonsense", 1)).Raw()
		if err == nil || reply.Lookup("codeName").StringValue() != "CommandNotFound" {
			t.Errorf("reply %v, error %v", reply, err)
		}
		bad := doc("$nonsense", 1)
		var refused mongo.WriteException
		if r, err := w.coll.UpdateMany(w.ctx, bad, set1); r == nil || r.MatchedCount != 0 || !errors.As(err, &refused) {
			t.Errorf("UpdateMany: result %v, error %v", r, err)
		}
		if r, err := w.coll.DeleteMany(w.ctx, bad); r == nil || r.DeletedCount != 0 || !errors.As(err, &refused) {
			t.Errorf("DeleteMany: result %v, error %v", r, err)
		}
		if r, err := w.coll.UpdateOne(w.ctx, bad, set1); r != nil || !errors.As(err, &refused) {
			t.Errorf("UpdateOne: result %v, error %v", r, err)
		}
	})
}
