package mongo_test

import (
	"context"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
)

// retriedOperations are the operations and whether a lost reply is retried (Retryable Reads, "Supported Read Operations";
// Retryable Writes, "Supported Write Operations").
var retriedOperations = []struct {
	name, command string
	retried       bool
	do            func(ctx context.Context, coll *mongo.Collection) error
}{
	{"find", "find", true, func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.Find(ctx, d{})
		return err
	}},
	{"findOne", "find", true, func(ctx context.Context, coll *mongo.Collection) error {
		return coll.FindOne(ctx, d{}).Err()
	}},
	{"aggregate", "aggregate", true, func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.Aggregate(ctx, bson.A{doc("$match", d{})})
		return err
	}},
	{"aggregate on a database", "aggregate", true, func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.Database().Aggregate(ctx, bson.A{doc("$documents", bson.A{d{}})})
		return err
	}},
	{"aggregate with $out", "aggregate", false, func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.Aggregate(ctx, bson.A{doc("$out", "o")})
		return err
	}},
	{"aggregate with $merge", "aggregate", false, func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.Aggregate(ctx, bson.A{doc("$merge", doc("into", "o"))})
		return err
	}},
	{"countDocuments", "aggregate", true, func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.CountDocuments(ctx, d{})
		return err
	}},
	{"estimatedDocumentCount", "count", true, func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.EstimatedDocumentCount(ctx)
		return err
	}},
	{"distinct", "distinct", true, func(ctx context.Context, coll *mongo.Collection) error {
		return coll.Distinct(ctx, "x", d{}).Err()
	}},
	{"watch of a collection", "aggregate", true, func(ctx context.Context, coll *mongo.Collection) error {
		return closed(ctx)(coll.Watch(ctx, bson.A{}))
	}},
	{"watch of a database", "aggregate", true, func(ctx context.Context, coll *mongo.Collection) error {
		return closed(ctx)(coll.Database().Watch(ctx, bson.A{}))
	}},
	{"watch of a deployment", "aggregate", true, func(ctx context.Context, coll *mongo.Collection) error {
		return closed(ctx)(coll.Database().Client().Watch(ctx, bson.A{}))
	}},
	{"listDatabases", "listDatabases", true, func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.Database().Client().ListDatabases(ctx, d{})
		return err
	}},
	{"listDatabaseNames", "listDatabases", true, func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.Database().Client().ListDatabaseNames(ctx, d{})
		return err
	}},
	{"listCollections", "listCollections", true, func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.Database().ListCollections(ctx, d{})
		return err
	}},
	{"listCollectionNames", "listCollections", true, func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.Database().ListCollectionNames(ctx, d{})
		return err
	}},
	{"listCollectionSpecifications", "listCollections", true, func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.Database().ListCollectionSpecifications(ctx, d{})
		return err
	}},
	{"listIndexes", "listIndexes", true, func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.Indexes().List(ctx)
		return err
	}},
	{"listIndexSpecifications", "listIndexes", true, func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.Indexes().ListSpecifications(ctx)
		return err
	}},
	{"findOneAndUpdate", "findAndModify", true, func(ctx context.Context, coll *mongo.Collection) error {
		return coll.FindOneAndUpdate(ctx, d{}, doc("$inc", doc("n", 1))).Err()
	}},
	{"findOneAndReplace", "findAndModify", true, func(ctx context.Context, coll *mongo.Collection) error {
		return coll.FindOneAndReplace(ctx, d{}, doc("n", 1)).Err()
	}},
	{"findOneAndDelete", "findAndModify", true, func(ctx context.Context, coll *mongo.Collection) error {
		return coll.FindOneAndDelete(ctx, d{}).Err()
	}},
	{"runCommandCursor", "find", false, func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.Database().RunCommandCursor(ctx, doc("find", "c"))
		return err
	}},
	{"create", "create", false, func(ctx context.Context, coll *mongo.Collection) error {
		return coll.Database().CreateCollection(ctx, "new")
	}},
	{"create a view", "create", false, func(ctx context.Context, coll *mongo.Collection) error {
		return coll.Database().CreateView(ctx, "view", "c", bson.A{})
	}},
	{"createIndexes", "createIndexes", false, func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: doc("n", 1)})
		return err
	}},
	{"dropIndexes", "dropIndexes", false, func(ctx context.Context, coll *mongo.Collection) error {
		return coll.Indexes().DropAll(ctx)
	}},
	{"drop", "drop", false, func(ctx context.Context, coll *mongo.Collection) error { return coll.Drop(ctx) }},
	{"dropDatabase", "dropDatabase", false, func(ctx context.Context, coll *mongo.Collection) error {
		return coll.Database().Drop(ctx)
	}},
}

func closed(ctx context.Context) func(*mongo.ChangeStream, error) error {
	return func(s *mongo.ChangeStream, err error) error {
		if err != nil {
			return err
		}
		return s.Close(ctx)
	}
}

func TestWhichOperationsAreRetried(t *testing.T) {
	for _, op := range retriedOperations {
		t.Run(op.name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				w.seed()
				w.script(op.command, loseReply)
				err := op.do(w.ctx, w.coll)
				sent, want := w.started(op.command), 1
				if op.retried {
					want = 2
				}
				if len(sent) != want || (err == nil) != op.retried {
					t.Fatalf("%d attempts, %v", len(sent), err)
				}
				if op.retried && sent[0].Command.Lookup("lsid").String() != sent[1].Command.Lookup("lsid").String() {
					t.Error("the retry has another session")
				}
				if !op.retried {
					checkCode(t, err, -1)
				}
			})
		})
		t.Run(op.name+" with the options off", func(t *testing.T) {
			off := func(o *options.ClientOptions) { o.SetRetryReads(false).SetRetryWrites(false) }
			in(t, off, func(w *world) {
				w.seed()
				w.script(op.command, loseReply)
				if err, n := op.do(w.ctx, w.coll), len(w.started(op.command)); err == nil || n != 1 {
					t.Errorf("%d attempts, %v", n, err)
				}
			})
		})
	}
}

// Client Backpressure: every command is retried after an overload.
func TestEveryOperationIsRetriedAfterAnOverload(t *testing.T) {
	for _, op := range retriedOperations {
		t.Run(op.name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				w.seed()
				overload := refuse(462, "SystemOverloadedError", "RetryableError")
				w.script(op.command, overload, overload)
				if err, n := op.do(w.ctx, w.coll), len(w.started(op.command)); err != nil || n != 3 {
					t.Errorf("%d attempts, %v", n, err)
				}
			})
		})
	}
}
