package situations

import (
	"context"
	"reflect"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// operation is a method with arguments that work.
type operation struct {
	name   string
	of     func(*world) any
	method string
	// args are those between the context and the options.
	args []any
	// builder returns a new options builder; nil if the method has no options.
	builder func() any
}

func onClient(w *world) any        { return w.client }
func onDatabase(w *world) any      { return w.db }
func onCollection(w *world) any    { return w.coll }
func onIndexes(w *world) any       { return w.coll.Indexes() }
func onSearchIndexes(w *world) any { return w.coll.SearchIndexes() }

// builderOf makes a builder of any type from its constructor.
func builderOf[B any](constructor func() B) func() any {
	return func() any { return constructor() }
}

func made[B any]() *B { return new(B) }

var (
	byID  = bson.D{{Key: "_id", Value: int32(1)}}
	inc   = bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: int32(1)}}}}
	fresh = bson.D{{Key: "_id", Value: "new"}}
	x     = bson.D{{Key: "x", Value: int32(1)}}
	none  = bson.D{}
)

var operations = slices.Concat(commandOperations, bucketOperations)

var commandOperations = []operation{
	{"Client.BulkWrite", onClient, "BulkWrite", []any{[]mongo.ClientBulkWrite{
		{Database: "db", Collection: "c", Model: mongo.NewClientInsertOneModel().SetDocument(fresh)},
	}}, builderOf(options.ClientBulkWrite)},
	{"Client.ListDatabaseNames", onClient, "ListDatabaseNames", []any{none}, builderOf(options.ListDatabases)},
	{"Client.ListDatabases", onClient, "ListDatabases", []any{none}, builderOf(options.ListDatabases)},
	{"Client.Ping", onClient, "Ping", []any{nil}, nil},
	{"Client.Watch", onClient, "Watch", []any{mongo.Pipeline{}}, builderOf(options.ChangeStream)},

	{"Database.Aggregate", onDatabase, "Aggregate", []any{mongo.Pipeline{{{Key: "$documents", Value: bson.A{x}}}}}, builderOf(options.Aggregate)},
	{"Database.CreateCollection", onDatabase, "CreateCollection", []any{"created"}, builderOf(options.CreateCollection)},
	{"Database.CreateView", onDatabase, "CreateView", []any{"view", "c", mongo.Pipeline{}}, builderOf(options.CreateView)},
	{"Database.Drop", onDatabase, "Drop", nil, nil},
	{"Database.ListCollectionNames", onDatabase, "ListCollectionNames", []any{none}, builderOf(options.ListCollections)},
	{"Database.ListCollectionSpecifications", onDatabase, "ListCollectionSpecifications", []any{none}, builderOf(options.ListCollections)},
	{"Database.ListCollections", onDatabase, "ListCollections", []any{none}, builderOf(options.ListCollections)},
	{"Database.RunCommand", onDatabase, "RunCommand", []any{bson.D{{Key: "ping", Value: int32(1)}}}, builderOf(options.RunCmd)},
	{"Database.RunCommandCursor", onDatabase, "RunCommandCursor", []any{bson.D{{Key: "find", Value: "c"}}}, builderOf(options.RunCmd)},
	{"Database.Watch", onDatabase, "Watch", []any{mongo.Pipeline{}}, builderOf(options.ChangeStream)},

	{"Collection.Aggregate", onCollection, "Aggregate", []any{mongo.Pipeline{{{Key: "$match", Value: byID}}}}, builderOf(options.Aggregate)},
	{"Collection.BulkWrite", onCollection, "BulkWrite", []any{[]mongo.WriteModel{mongo.NewInsertOneModel().SetDocument(fresh)}}, builderOf(options.BulkWrite)},
	{"Collection.CountDocuments", onCollection, "CountDocuments", []any{none}, builderOf(options.Count)},
	{"Collection.DeleteMany", onCollection, "DeleteMany", []any{none}, builderOf(options.DeleteMany)},
	{"Collection.DeleteOne", onCollection, "DeleteOne", []any{byID}, builderOf(options.DeleteOne)},
	{"Collection.Distinct", onCollection, "Distinct", []any{"n", none}, builderOf(options.Distinct)},
	{"Collection.Drop", onCollection, "Drop", nil, builderOf(options.DropCollection)},
	{"Collection.EstimatedDocumentCount", onCollection, "EstimatedDocumentCount", nil, builderOf(options.EstimatedDocumentCount)},
	{"Collection.Find", onCollection, "Find", []any{none}, builderOf(options.Find)},
	{"Collection.FindOne", onCollection, "FindOne", []any{byID}, builderOf(options.FindOne)},
	{"Collection.FindOneAndDelete", onCollection, "FindOneAndDelete", []any{byID}, builderOf(options.FindOneAndDelete)},
	{"Collection.FindOneAndReplace", onCollection, "FindOneAndReplace", []any{byID, x}, builderOf(options.FindOneAndReplace)},
	{"Collection.FindOneAndUpdate", onCollection, "FindOneAndUpdate", []any{byID, inc}, builderOf(options.FindOneAndUpdate)},
	{"Collection.InsertMany", onCollection, "InsertMany", []any{[]any{fresh, x}}, builderOf(options.InsertMany)},
	{"Collection.InsertOne", onCollection, "InsertOne", []any{fresh}, builderOf(options.InsertOne)},
	{"Collection.ReplaceOne", onCollection, "ReplaceOne", []any{byID, x}, builderOf(options.Replace)},
	{"Collection.UpdateByID", onCollection, "UpdateByID", []any{int32(1), inc}, builderOf(options.UpdateOne)},
	{"Collection.UpdateMany", onCollection, "UpdateMany", []any{none, inc}, builderOf(options.UpdateMany)},
	{"Collection.UpdateOne", onCollection, "UpdateOne", []any{byID, inc}, builderOf(options.UpdateOne)},
	{"Collection.Watch", onCollection, "Watch", []any{mongo.Pipeline{}}, builderOf(options.ChangeStream)},

	{"IndexView.CreateMany", onIndexes, "CreateMany", []any{[]mongo.IndexModel{{Keys: x}, {Keys: inverse}}}, builderOf(options.CreateIndexes)},
	{"IndexView.CreateOne", onIndexes, "CreateOne", []any{mongo.IndexModel{Keys: x}}, builderOf(options.CreateIndexes)},
	{"IndexView.DropAll", onIndexes, "DropAll", nil, builderOf(options.DropIndexes)},
	{"IndexView.DropOne", onIndexes, "DropOne", []any{"x_1"}, builderOf(options.DropIndexes)},
	{"IndexView.DropWithKey", onIndexes, "DropWithKey", []any{x}, builderOf(options.DropIndexes)},
	{"IndexView.List", onIndexes, "List", nil, builderOf(options.ListIndexes)},
	{"IndexView.ListSpecifications", onIndexes, "ListSpecifications", nil, builderOf(options.ListIndexes)},

	{"SearchIndexView.CreateMany", onSearchIndexes, "CreateMany", []any{[]mongo.SearchIndexModel{{Definition: x}}}, builderOf(made[options.CreateSearchIndexesOptionsBuilder])},
	{"SearchIndexView.CreateOne", onSearchIndexes, "CreateOne", []any{mongo.SearchIndexModel{Definition: x}}, builderOf(made[options.CreateSearchIndexesOptionsBuilder])},
	{"SearchIndexView.DropOne", onSearchIndexes, "DropOne", []any{"s"}, builderOf(made[options.DropSearchIndexOptionsBuilder])},
	{"SearchIndexView.List", onSearchIndexes, "List", []any{options.SearchIndexes()}, builderOf(made[options.ListSearchIndexesOptionsBuilder])},
	{"SearchIndexView.UpdateOne", onSearchIndexes, "UpdateOne", []any{"s", x}, builderOf(made[options.UpdateSearchIndexOptionsBuilder])},
}

var inverse = bson.D{{Key: "x", Value: int32(-1)}}

// call calls the method with its own arguments.
func (o *operation) call(ctx context.Context, w *world, opts ...any) (any, error) {
	return o.callWith(ctx, w, o.args, opts...)
}

func (o *operation) callWith(ctx context.Context, w *world, args []any, opts ...any) (any, error) {
	method := reflect.ValueOf(o.of(w)).MethodByName(o.method)
	in := make([]reflect.Value, 0, 1+len(args)+len(opts))
	for i, arg := range append(append([]any{ctx}, args...), opts...) {
		t := method.Type().In(min(i, method.Type().NumIn()-1))
		if method.Type().IsVariadic() && i >= method.Type().NumIn()-1 {
			t = t.Elem()
		}
		if arg == nil {
			in = append(in, reflect.Zero(t))
			continue
		}
		in = append(in, reflect.ValueOf(arg))
	}
	return result(ctx, method.Call(in))
}

// result returns all that a method's results show.
func result(ctx context.Context, out []reflect.Value) (any, error) {
	var err error
	var value any
	for _, v := range out {
		switch v := v.Interface().(type) {
		case error:
			err = v
		case nil:
		default:
			value = v
		}
	}
	switch v := value.(type) {
	case *mongo.SingleResult:
		raw, err := v.Raw()
		return raw, err
	case *mongo.DistinctResult:
		raw, err := v.Raw()
		return bson.RawValue{Type: bson.TypeArray, Value: raw}, err
	case *mongo.Cursor:
		return readAll(ctx, v, err)
	case *mongo.ChangeStream:
		return closeStream(ctx, v, err)
	case *mongo.GridFSDownloadStream:
		return readStream(v, err)
	case *mongo.GridFSUploadStream:
		return writeStream(v, err)
	}
	if v := reflect.ValueOf(value); v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, err
	}
	return value, err
}

func readAll(ctx context.Context, c *mongo.Cursor, err error) (any, error) {
	if c == nil || err != nil {
		return nil, err
	}
	var documents []bson.Raw
	err = c.All(ctx, &documents)
	return documents, err
}

func closeStream(ctx context.Context, s *mongo.ChangeStream, err error) (any, error) {
	if s == nil || err != nil {
		return nil, err
	}
	return "a stream", s.Close(ctx)
}
