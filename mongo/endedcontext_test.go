package mongo_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
)

// failure drops the result of a call.
func failure[T any](_ T, err error) error { return err }

// calls are the methods that send a command, each with a context.
var calls = map[string]func(ctx context.Context, w *world) error{
	"Aggregate": func(ctx context.Context, w *world) error { return failure(w.coll.Aggregate(ctx, bson.A{})) },
	"BulkWrite": func(ctx context.Context, w *world) error {
		return failure(w.coll.BulkWrite(ctx, []mongo.WriteModel{mongo.NewInsertOneModel().SetDocument(doc())}))
	},
	"Client.BulkWrite": func(ctx context.Context, w *world) error {
		model := mongo.NewClientInsertOneModel().SetDocument(doc())
		return failure(w.client.BulkWrite(ctx, []mongo.ClientBulkWrite{{Database: "test", Collection: "c", Model: model}}))
	},
	"CountDocuments":    func(ctx context.Context, w *world) error { return failure(w.coll.CountDocuments(ctx, doc())) },
	"CreateCollection":  func(ctx context.Context, w *world) error { return w.coll.Database().CreateCollection(ctx, "d") },
	"DeleteMany":        func(ctx context.Context, w *world) error { return failure(w.coll.DeleteMany(ctx, doc())) },
	"DeleteOne":         func(ctx context.Context, w *world) error { return failure(w.coll.DeleteOne(ctx, doc())) },
	"Distinct":          func(ctx context.Context, w *world) error { return w.coll.Distinct(ctx, "n", doc()).Err() },
	"Drop":              func(ctx context.Context, w *world) error { return w.coll.Drop(ctx) },
	"Estimated...Count": func(ctx context.Context, w *world) error { return failure(w.coll.EstimatedDocumentCount(ctx)) },
	"Find":              func(ctx context.Context, w *world) error { return failure(w.coll.Find(ctx, doc())) },
	"FindOne":           func(ctx context.Context, w *world) error { return w.coll.FindOne(ctx, doc()).Err() },
	"FindOneAndDelete":  func(ctx context.Context, w *world) error { return w.coll.FindOneAndDelete(ctx, doc()).Err() },
	"Indexes.CreateOne": func(ctx context.Context, w *world) error {
		return failure(w.coll.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: doc("n", 1)}))
	},
	"Indexes.DropOne": func(ctx context.Context, w *world) error { return w.coll.Indexes().DropOne(ctx, "n_1") },
	"Indexes.List":    func(ctx context.Context, w *world) error { return failure(w.coll.Indexes().List(ctx)) },
	"InsertMany":      func(ctx context.Context, w *world) error { return failure(w.coll.InsertMany(ctx, []any{doc()})) },
	"InsertOne":       func(ctx context.Context, w *world) error { return insertOne(ctx, w.coll) },
	"ListCollectionNames": func(ctx context.Context, w *world) error {
		return failure(w.coll.Database().ListCollectionNames(ctx, doc()))
	},
	"ListDatabaseNames": func(ctx context.Context, w *world) error { return failure(w.client.ListDatabaseNames(ctx, doc())) },
	"Ping":              func(ctx context.Context, w *world) error { return w.client.Ping(ctx, nil) },
	"ReplaceOne":        func(ctx context.Context, w *world) error { return failure(w.coll.ReplaceOne(ctx, doc(), doc())) },
	"RunCommand": func(ctx context.Context, w *world) error {
		return w.coll.Database().RunCommand(ctx, doc("ping", 1)).Err()
	},
	"RunCommandCursor": func(ctx context.Context, w *world) error {
		return failure(w.coll.Database().RunCommandCursor(ctx, doc("find", "c")))
	},
	"UpdateOne": func(ctx context.Context, w *world) error {
		return failure(w.coll.UpdateOne(ctx, doc(), doc("$set", doc("n", 1))))
	},
	"Watch": func(ctx context.Context, w *world) error { return failure(w.coll.Watch(ctx, bson.A{})) },
	"WithTransaction": func(ctx context.Context, w *world) error {
		s, err := w.client.StartSession()
		w.must(err)
		defer s.EndSession(w.ctx)
		return failure(s.WithTransaction(ctx, func(ctx context.Context) (any, error) { return nil, insertOne(ctx, w.coll) }))
	},
	"CommitTransaction": func(ctx context.Context, w *world) error {
		s, inside := w.transaction()
		defer s.EndSession(w.ctx)
		w.must(insertOne(inside, w.coll))
		w.forget()
		return s.CommitTransaction(ctx)
	},
	"Cursor.Next": func(ctx context.Context, w *world) error {
		c := w.opened()
		defer c.Close(w.ctx)
		c.Next(ctx)
		return c.Err()
	},
	"Cursor.All": func(ctx context.Context, w *world) error { return w.opened().All(ctx, new([]d)) },
	"ChangeStream.Next": func(ctx context.Context, w *world) error {
		s, err := w.coll.Watch(w.ctx, bson.A{})
		w.must(err)
		defer s.Close(w.ctx)
		w.forget()
		s.Next(ctx)
		return s.Err()
	},
}

// opened returns a cursor whose next document is in its next batch.
func (w *world) opened() *mongo.Cursor {
	w.must(failure(w.coll.InsertMany(w.ctx, []any{doc(), doc(), doc()})))
	c, err := w.coll.Find(w.ctx, doc(), options.Find().SetBatchSize(2))
	w.must(err)
	c.Next(w.ctx)
	c.Next(w.ctx)
	w.forget()
	return c
}

// Programs compare the error of a context that had ended by ==.
func TestTheErrorOfAContextThatHasEndedIsItsOwn(t *testing.T) {
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				w.seed()
				cancelled, cancel := context.WithCancel(w.ctx)
				cancel()
				late, cancel := context.WithDeadline(w.ctx, time.Now().Add(-time.Second))
				defer cancel()
				caused, cancelCause := context.WithCancelCause(w.ctx)
				cancelCause(errors.New("why"))
				for _, ctx := range []context.Context{cancelled, late, caused} {
					w.forget()
					if err := call(ctx, w); err != ctx.Err() { //nolint:errorlint // see above
						t.Errorf("%v: %T %v", ctx.Err(), err, err)
					}
				}
			})
		})
	}
}

// An abort in a context that has ended is not sent, but gives back the connection that the transaction has behind a load balancer.
func TestAnAbortInAnEndedContextGivesItsConnectionBack(t *testing.T) {
	inside(t, balanced(1), func(o *options.ClientOptions) { o.SetMaxPoolSize(1) }, func(w *world) {
		w.must(insertOne(w.ctx, w.coll))
		ended, cancel := context.WithCancel(w.ctx)
		cancel()
		s, inside := w.transaction()
		defer s.EndSession(w.ctx)
		w.must(insertOne(inside, w.coll))
		w.must(s.AbortTransaction(ended))
		soon, cancel := context.WithTimeout(w.ctx, time.Second)
		defer cancel()
		w.must(w.client.Ping(soon, nil))
	})
}
