package mongo_test

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/holdfast-db/holdfast/mongo"
)

// ruledOperation is an operation of the table of rules: its command, and how it is done.
type ruledOperation struct {
	command string
	do      func(ctx context.Context, coll *mongo.Collection) error
	// begin does what comes before the operation, and returns the operation.
	begin func(ctx context.Context, coll *mongo.Collection) (func(context.Context) error, error)
	// unacknowledged means that the operation can be done with w: 0.
	unacknowledged bool
}

var insertModel, updateManyModel = mongo.NewInsertOneModel().SetDocument(doc("n", 1)), mongo.NewUpdateManyModel().SetFilter(d{}).SetUpdate(increment)

var increment = doc("$inc", doc("n", 1))

// ruledOperations has every operation of the table of rules, by its name there.
var ruledOperations = map[string]ruledOperation{
	"find":      {command: "find", do: func(ctx context.Context, c *mongo.Collection) error { return second(c.Find(ctx, d{})) }},
	"findOne":   {command: "find", do: findOneOf},
	"aggregate": {command: "aggregate", do: aggregateOf(doc("$match", d{}))},
	"aggregateOut": {
		command: "aggregate", do: aggregateOf(doc("$out", "o")),
	},
	"aggregateMerge": {command: "aggregate", do: aggregateOf(doc("$merge", doc("into", "o")))},
	"countDocuments": {command: "aggregate", do: func(ctx context.Context, c *mongo.Collection) error { return second(c.CountDocuments(ctx, d{})) }},
	"estimatedDocumentCount": {command: "count", do: func(ctx context.Context, c *mongo.Collection) error {
		return second(c.EstimatedDocumentCount(ctx))
	}},
	"distinct": {command: "distinct", do: func(ctx context.Context, c *mongo.Collection) error { return c.Distinct(ctx, "n", d{}).Err() }},
	"watch":    {command: "aggregate", do: func(ctx context.Context, c *mongo.Collection) error { return second(c.Watch(ctx, bson.A{})) }},
	"listDatabases": {command: "listDatabases", do: func(ctx context.Context, c *mongo.Collection) error {
		return second(c.Database().Client().ListDatabases(ctx, d{}))
	}},
	"listCollections": {command: "listCollections", do: func(ctx context.Context, c *mongo.Collection) error {
		return second(c.Database().ListCollections(ctx, d{}))
	}},
	"listIndexes": {command: "listIndexes", do: func(ctx context.Context, c *mongo.Collection) error { return second(c.Indexes().List(ctx)) }},
	"getMore":     {command: "getMore", begin: beginCursor},
	"runCommand": {command: "validate", do: func(ctx context.Context, c *mongo.Collection) error {
		return c.Database().RunCommand(ctx, doc("validate", "c")).Err()
	}},
	"insertOne": {command: "insert", unacknowledged: true, do: func(ctx context.Context, c *mongo.Collection) error {
		return second(c.InsertOne(ctx, doc("n", 1)))
	}},
	"insertMany": {command: "insert", unacknowledged: true, do: func(ctx context.Context, c *mongo.Collection) error {
		return second(c.InsertMany(ctx, []d{doc("n", 1), doc("n", 2)}))
	}},
	"updateOne": {command: "update", unacknowledged: true, do: func(ctx context.Context, c *mongo.Collection) error {
		return second(c.UpdateOne(ctx, d{}, increment))
	}},
	"replaceOne": {command: "update", unacknowledged: true, do: func(ctx context.Context, c *mongo.Collection) error {
		return second(c.ReplaceOne(ctx, d{}, doc("n", 1)))
	}},
	"deleteOne": {command: "delete", unacknowledged: true, do: func(ctx context.Context, c *mongo.Collection) error {
		return second(c.DeleteOne(ctx, d{}))
	}},
	"findOneAndUpdate": {command: "findAndModify", do: func(ctx context.Context, c *mongo.Collection) error {
		return c.FindOneAndUpdate(ctx, d{}, increment).Err()
	}},
	"findOneAndReplace": {command: "findAndModify", do: func(ctx context.Context, c *mongo.Collection) error {
		return c.FindOneAndReplace(ctx, d{}, doc("n", 1)).Err()
	}},
	"findOneAndDelete": {command: "findAndModify", do: func(ctx context.Context, c *mongo.Collection) error {
		return c.FindOneAndDelete(ctx, d{}).Err()
	}},
	"bulkWrite": {command: "insert", unacknowledged: true, do: func(ctx context.Context, c *mongo.Collection) error {
		return second(c.BulkWrite(ctx, []mongo.WriteModel{insertModel}))
	}},
	"bulkWriteMany": {command: "update", unacknowledged: true, do: func(ctx context.Context, c *mongo.Collection) error {
		return second(c.BulkWrite(ctx, []mongo.WriteModel{updateManyModel}))
	}},
	"clientBulkWrite": {command: "bulkWrite", do: func(ctx context.Context, c *mongo.Collection) error {
		return bulkWriteOf(ctx, c, mongo.NewClientInsertOneModel().SetDocument(doc("n", 1)))
	}},
	"clientBulkWriteMany": {command: "bulkWrite", do: func(ctx context.Context, c *mongo.Collection) error {
		return bulkWriteOf(ctx, c, mongo.NewClientUpdateManyModel().SetFilter(d{}).SetUpdate(increment))
	}},
	"updateMany": {command: "update", unacknowledged: true, do: func(ctx context.Context, c *mongo.Collection) error {
		return second(c.UpdateMany(ctx, d{}, increment))
	}},
	"deleteMany": {command: "delete", unacknowledged: true, do: func(ctx context.Context, c *mongo.Collection) error {
		return second(c.DeleteMany(ctx, d{}))
	}},
	"createCollection": {command: "create", do: func(ctx context.Context, c *mongo.Collection) error {
		return c.Database().CreateCollection(ctx, "new")
	}},
	"createIndexes": {command: "createIndexes", do: func(ctx context.Context, c *mongo.Collection) error {
		return second(c.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: doc("n", 1)}))
	}},
	"dropIndexes":       {command: "dropIndexes", do: func(ctx context.Context, c *mongo.Collection) error { return c.Indexes().DropAll(ctx) }},
	"drop":              {command: "drop", do: func(ctx context.Context, c *mongo.Collection) error { return c.Drop(ctx) }},
	"dropDatabase":      {command: "dropDatabase", do: func(ctx context.Context, c *mongo.Collection) error { return c.Database().Drop(ctx) }},
	"commitTransaction": {command: "commitTransaction", begin: beginEnd((*mongo.Session).CommitTransaction)},
	"abortTransaction":  {command: "abortTransaction", begin: beginEnd((*mongo.Session).AbortTransaction)},
}

func second[T any](_ T, err error) error { return err }

func findOneOf(ctx context.Context, c *mongo.Collection) error { return c.FindOne(ctx, d{}).Err() }

func aggregateOf(stage d) func(context.Context, *mongo.Collection) error {
	return func(ctx context.Context, c *mongo.Collection) error { return second(c.Aggregate(ctx, bson.A{stage})) }
}

func bulkWriteOf(ctx context.Context, c *mongo.Collection, model mongo.ClientWriteModel) error {
	return second(c.Database().Client().BulkWrite(ctx, []mongo.ClientBulkWrite{{Database: "test", Collection: "c", Model: model}}))
}

// beginCursor opens a cursor whose next document needs a getMore.
func beginCursor(ctx context.Context, c *mongo.Collection) (func(context.Context) error, error) {
	cursor, err := c.Find(ctx, d{}, options.Find().SetBatchSize(1))
	if err != nil {
		return nil, err
	}
	cursor.Next(ctx)
	return func(ctx context.Context) error {
		defer func() { _ = cursor.Close(context.WithoutCancel(ctx)) }()
		cursor.Next(ctx)
		return cursor.Err()
	}, nil
}

// beginEnd begins a transaction and makes a write in it; the operation is the end of the transaction.
func beginEnd(end func(*mongo.Session, context.Context) error) func(context.Context, *mongo.Collection) (func(context.Context) error, error) {
	return func(ctx context.Context, c *mongo.Collection) (func(context.Context) error, error) {
		s, err := c.Database().Client().StartSession()
		if err != nil {
			return nil, err
		}
		if err := s.StartTransaction(); err != nil {
			return nil, err
		}
		return func(ctx context.Context) error {
			defer s.EndSession(context.WithoutCancel(ctx))
			return end(s, ctx)
		}, second(c.InsertOne(mongo.NewSessionContext(ctx, s), doc("n", 1)))
	}
}

// notAcknowledged returns the collection with the write concern w: 0.
func notAcknowledged(c *mongo.Collection) *mongo.Collection {
	return c.Clone(options.Collection().SetWriteConcern(writeconcern.Unacknowledged()))
}
