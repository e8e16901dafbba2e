package mongo_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/internal/devtools/spectest"
	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// servers runs f with a collection of mongotest over TCP, and with one of the server in HOLDFAST_MONGODB_URI.
func servers(t *testing.T, f func(t *testing.T, coll *mongo.Collection)) {
	t.Helper()
	t.Run("mongotest", func(t *testing.T) {
		on(t, mongotest.RunReplicaSetT(t, 3).URI(), f)
	})
	t.Run("HOLDFAST_MONGODB_URI", func(t *testing.T) {
		on(t, spectest.Server(t), f)
	})
}

func on(t *testing.T, uri string, f func(t *testing.T, coll *mongo.Collection)) {
	t.Helper()
	client, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		t.Fatal(err)
	}
	coll := client.Database("holdfast_test_crud").Collection(bson.NewObjectID().Hex())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := coll.Drop(ctx); err != nil {
			t.Error(err)
		}
		if err := client.Disconnect(ctx); err != nil {
			t.Error(err)
		}
	})
	f(t, coll)
}

type person struct {
	ID   bson.ObjectID `bson:"_id,omitempty"`
	Name string        `bson:"name"`
	Age  int           `bson:"age"`
}

func TestCRUD(t *testing.T) {
	servers(t, func(t *testing.T, coll *mongo.Collection) {
		ctx := t.Context()
		inserted, err := coll.InsertOne(ctx, person{Name: "ada", Age: 36})
		if err != nil || !inserted.Acknowledged {
			t.Fatalf("%+v, %v", inserted, err)
		}
		id, ok := inserted.InsertedID.(bson.ObjectID)
		if !ok || id.IsZero() {
			t.Fatalf("the new _id is %v", inserted.InsertedID)
		}
		_, err = coll.InsertOne(ctx, doc("_id", id))
		if codes := mongo.ErrorCodes(err); !mongo.IsDuplicateKeyError(err) || !slices.Contains(codes, 11000) {
			t.Errorf("a second insert of the _id: %v", err)
		}
		if _, plain := err.(mongo.WriteException); !plain { //nolint:errorlint // the concrete type is documented
			t.Errorf("the error is a %T, not the official type", err)
		}
		var got person
		if err := coll.FindOne(ctx, doc("name", "ada")).Decode(&got); err != nil || got.ID != id || got.Age != 36 {
			t.Errorf("%+v, %v", got, err)
		}
		updated, err := coll.UpdateByID(ctx, id, doc("$inc", doc("age", 1)))
		if err != nil || updated.MatchedCount != 1 || updated.ModifiedCount != 1 {
			t.Errorf("%+v, %v", updated, err)
		}
		upserted, err := coll.UpdateOne(ctx, doc("_id", "x"), doc("$set", doc("age", 1)), options.UpdateOne().SetUpsert(true))
		if err != nil || upserted.MatchedCount != 0 || upserted.UpsertedCount != 1 || upserted.UpsertedID != "x" {
			t.Errorf("%+v, %v", upserted, err)
		}
		replaced, err := coll.ReplaceOne(ctx, doc("_id", "x"), doc("name", "x"))
		if err != nil || replaced.ModifiedCount != 1 {
			t.Errorf("%+v, %v", replaced, err)
		}
		err = coll.FindOneAndUpdate(ctx, doc("_id", id), doc("$inc", doc("age", 1)),
			options.FindOneAndUpdate().SetReturnDocument(options.After)).Decode(&got)
		if err != nil || got.Age != 38 {
			t.Errorf("%+v, %v", got, err)
		}
		deleted, err := coll.DeleteOne(ctx, doc("_id", "x"))
		if err != nil || deleted.DeletedCount != 1 {
			t.Errorf("%+v, %v", deleted, err)
		}
		if err := coll.FindOne(ctx, doc("_id", "x")).Err(); err != mongo.ErrNoDocuments { //nolint:errorlint // never wrapped
			t.Errorf("no document: %v", err)
		}
		if err := coll.FindOneAndUpdate(ctx, doc("_id", "x"), doc("$set", doc("a", 1))).Err(); err != mongo.ErrNoDocuments { //nolint:errorlint // never wrapped
			t.Errorf("no document to update: %v", err)
		}
	})
}

func TestInsertManyAndCursors(t *testing.T) {
	servers(t, func(t *testing.T, coll *mongo.Collection) {
		ctx := t.Context()
		people := make([]person, 250)
		for i := range people {
			people[i] = person{Name: "p", Age: i}
		}
		many, err := coll.InsertMany(ctx, people)
		if err != nil || len(many.InsertedIDs) != len(people) {
			t.Fatalf("%d inserted, %v", len(many.InsertedIDs), err)
		}
		for _, c := range []struct {
			name string
			o    *options.FindOptionsBuilder
			want int
		}{
			{"all", options.Find(), 250},
			{"in small batches", options.Find().SetBatchSize(7), 250},
			{"a limit across batches", options.Find().SetBatchSize(40).SetLimit(90), 90},
			{"a negative limit is a single batch", options.Find().SetLimit(-30), 30},
			{"skip and sort", options.Find().SetSort(doc("age", -1)).SetSkip(240), 10},
		} {
			cursor, err := coll.Find(ctx, d{}, c.o)
			if err != nil {
				t.Fatal(err)
			}
			var got []person
			if err := cursor.All(ctx, &got); err != nil || len(got) != c.want || cursor.ID() != 0 {
				t.Errorf("%s: %d documents, cursor %d, %v", c.name, len(got), cursor.ID(), err)
			}
		}
		cursor, err := coll.Find(ctx, d{}, options.Find().SetBatchSize(2))
		if err != nil || !cursor.Next(ctx) || cursor.RemainingBatchLength() != 1 || cursor.ID() == 0 {
			t.Fatalf("%+v, %v", cursor, err)
		}
		if err := cursor.Close(ctx); err != nil || cursor.Next(ctx) {
			t.Errorf("after Close: %v", err)
		}
	})
}

func TestAfterAnErrorInsertManyReturnsTheInsertedIDs(t *testing.T) {
	servers(t, func(t *testing.T, coll *mongo.Collection) {
		for _, ordered := range []bool{true, false} {
			if err := coll.Drop(t.Context()); err != nil {
				t.Fatal(err)
			}
			r, err := coll.InsertMany(t.Context(), []any{doc("_id", 1), doc("_id", 1), doc("_id", 2)},
				options.InsertMany().SetOrdered(ordered))
			var bulk mongo.BulkWriteException
			if !errors.As(err, &bulk) || len(bulk.WriteErrors) != 1 || bulk.WriteErrors[0].Index != 1 || !mongo.IsDuplicateKeyError(err) {
				t.Errorf("ordered=%v: %v", ordered, err)
			}
			if want := map[bool]int{true: 1, false: 2}[ordered]; len(r.InsertedIDs) != want {
				t.Errorf("ordered=%v: inserted %v", ordered, r.InsertedIDs)
			}
		}
	})
}

func TestBadDocumentsAreRefusedBeforeTheyAreSent(t *testing.T) {
	in(t, nil, func(w *world) {
		for name, do := range map[string]func() error{
			"a nil document":       func() error { _, err := w.coll.InsertOne(w.ctx, nil); return err },
			"a nil pointer":        func() error { _, err := w.coll.InsertOne(w.ctx, (*person)(nil)); return err },
			"not a slice":          func() error { _, err := w.coll.InsertMany(w.ctx, 7); return err },
			"an empty slice":       func() error { _, err := w.coll.InsertMany(w.ctx, []any{}); return err },
			"not a document":       func() error { _, err := w.coll.InsertOne(w.ctx, 7); return err },
			"malformed bytes":      func() error { _, err := w.coll.InsertOne(w.ctx, bson.Raw{5, 0, 0, 0, 1}); return err },
			"an update without $":  func() error { _, err := w.coll.UpdateOne(w.ctx, d{}, doc("a", 1)); return err },
			"an empty update":      func() error { _, err := w.coll.UpdateOne(w.ctx, d{}, d{}); return err },
			"a replacement with $": func() error { _, err := w.coll.ReplaceOne(w.ctx, d{}, doc("$set", d{})); return err },
			"a nil id":             func() error { _, err := w.coll.UpdateByID(w.ctx, nil, doc("$set", doc("a", 1))); return err },
			"an empty command":     func() error { return w.client.Database("x").RunCommand(w.ctx, d{}).Err() },
			"a command with lsid":  func() error { return w.client.Database("x").RunCommand(w.ctx, doc("ping", 1, "lsid", d{})).Err() },
		} {
			if err := do(); err == nil {
				t.Errorf("%s is accepted", name)
			}
		}
		if n := len(w.started("")); n != 0 {
			t.Errorf("%d commands were sent", n)
		}
	})
}

func TestADocumentOverTheLimitIsRefusedByName(t *testing.T) {
	in(t, nil, func(w *world) {
		_, err := w.coll.InsertOne(w.ctx, doc("x", make([]byte, 17<<20)))
		if err == nil || len(w.started("")) != 0 {
			t.Errorf("error: %v", err)
		}
	})
}

func TestReadsFollowTheReadPreference(t *testing.T) {
	in(t, nil, func(w *world) {
		w.seed()
		w.must(w.set.WaitIdle(w.ctx))
		w.pass(time.Second) // both secondaries are discovered
		secondary := w.client.Database("test").Collection("c", options.Collection().SetReadPreference(readpref.Secondary()))
		members := map[int]bool{}
		w.set.Use("find", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
			members[r.Member] = true
			return next(r)
		})
		for range 40 {
			w.must(secondary.FindOne(w.ctx, doc("_id", 1)).Err())
		}
		if members[w.set.Primary()] || len(members) != 2 {
			t.Errorf("reads went to the members %v, the primary is %d", members, w.set.Primary())
		}
	})
}

func TestDisconnect(t *testing.T) {
	in(t, nil, func(w *world) {
		var ended int
		w.seed()
		w.set.Use("endSessions", mongotest.Always(mongotest.Fault{Before: func() { ended++ }}))
		other, err := mongo.Connect(options.Client().ApplyURI(w.set.URI()).SetDialer(w.set.Dialer()))
		w.must(err)
		w.must(other.Ping(w.ctx, nil))
		w.must(other.Disconnect(w.ctx))
		if ended != 1 {
			t.Errorf("%d endSessions commands", ended)
		}
		if err := other.Ping(w.ctx, nil); err != mongo.ErrClientDisconnected { //nolint:errorlint // never wrapped
			t.Errorf("after Disconnect: %v", err)
		}
		if err := other.Disconnect(w.ctx); err != mongo.ErrClientDisconnected { //nolint:errorlint // never wrapped
			t.Errorf("a second Disconnect: %v", err)
		}
	})
}

func TestDisconnectInterruptsOperationsWhenItsContextEnds(t *testing.T) {
	in(t, nil, func(w *world) {
		w.seed()
		other, err := mongo.Connect(options.Client().ApplyURI(w.set.URI()).SetDialer(w.set.Dialer()))
		w.must(err)
		w.script("update", mongotest.Fault{LoseRequest: true, Silent: true})
		done := make(chan error)
		go func() {
			_, err := other.Database("test").Collection("c").UpdateOne(context.Background(), doc("_id", 1), doc("$inc", doc("n", 1)))
			done <- err
		}()
		w.pass(time.Second)
		ctx, cancel := context.WithTimeout(w.ctx, 2*time.Second)
		defer cancel()
		start := time.Now()
		w.must(other.Disconnect(ctx))
		if err := <-done; err == nil || time.Since(start) > 4*time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}
