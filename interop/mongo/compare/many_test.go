package compare

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
)

// manyRows are the writes with several statements, and those of several documents.
var manyRows = []row{
	{name: "updateMany with a nil filter", do: updateMany(nil, inc)},
	{name: "updateMany with a nil update", do: updateMany(byID, nil)},
	{name: "updateMany with an empty update", do: updateMany(byID, bson.D{})},
	{name: "updateMany with a replacement", do: updateMany(byID, bson.D{{Key: "x", Value: 1}})},
	{name: "updateMany that matches", do: updateMany(bson.D{}, inc)},
	{name: "updateMany that matches nothing", do: updateMany(bson.D{{Key: "_id", Value: 5}}, inc)},
	{name: "updateMany with a map as hint", do: func(ctx context.Context, s *stage) (any, error) {
		return show2(s.coll.UpdateMany(ctx, byID, inc, options.UpdateMany().SetHint(bson.M{"a": 1, "b": 1})))
	}},
	{name: "deleteMany with a nil filter", do: deleteMany(nil)},
	{name: "deleteMany that matches", do: deleteMany(bson.D{})},
	{name: "deleteMany with a marshaler that panics", do: deleteMany(panicking{})},

	{name: "bulkWrite of nil", do: bulkWrite()},
	{name: "bulkWrite with a nil model", do: bulkWrite(insertModel(1), nil)},
	{name: "bulkWrite with a nil document", do: bulkWrite(mongo.NewInsertOneModel())},
	{name: "bulkWrite with a marshaler that panics", do: bulkWrite(mongo.NewInsertOneModel().SetDocument(panicking{}))},
	{name: "bulkWrite of all kinds", do: bulkWrite(allModels()...)},
	{name: "bulkWrite of all kinds, unordered", do: bulkWriteUnordered(allModels()...)},
	{
		name: "bulkWrite with an error", do: bulkWrite(insertModel(1), insertModel(1), insertModel(2)),
		differ: []string{"result"}, why: acknowledgedAnyway,
	},
	{name: "bulkWrite with an error, unordered", do: bulkWriteUnordered(insertModel(1), insertModel(1), insertModel(2))},
	{name: "bulkWrite with an update without an operator, first", do: bulkWrite(
		mongo.NewUpdateOneModel().SetFilter(byID).SetUpdate(bson.D{{Key: "x", Value: 1}}), insertModel(1))},
	{name: "bulkWrite with a map as sort", do: bulkWrite(
		mongo.NewReplaceOneModel().SetFilter(byID).SetReplacement(bson.D{}).SetSort(bson.M{"a": 1, "b": 1}))},
	{name: "an unacknowledged bulkWrite", do: on(options.Collection().SetWriteConcern(writeconcern.Unacknowledged()), bulkWrite(insertModel(1)))},
	{
		name: "bulkWrite whose context is cancelled", do: func(_ context.Context, s *stage) (any, error) {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			return bulkWrite(insertModel(1))(ctx, s)
		},
		differ: []string{"result"}, why: acknowledgedAnyway,
	},
	{name: "bulkWrite with a nil context", do: func(_ context.Context, s *stage) (any, error) {
		return bulkWrite(insertModel(1))(nil, s)
	}},
}

const acknowledgedAnyway = "after an error the official result says that its writes were not acknowledged, also those that were"

func insertModel(id any) mongo.WriteModel {
	return mongo.NewInsertOneModel().SetDocument(bson.D{{Key: "_id", Value: id}})
}

func allModels() []mongo.WriteModel {
	return []mongo.WriteModel{
		insertModel(1), mongo.NewUpdateOneModel().SetFilter(byID).SetUpdate(inc), mongo.NewUpdateManyModel().SetFilter(bson.D{}).SetUpdate(inc),
		mongo.NewReplaceOneModel().SetFilter(bson.D{{Key: "_id", Value: 7}}).SetReplacement(bson.D{}).SetUpsert(true), insertModel(2),
		mongo.NewDeleteOneModel().SetFilter(byID), mongo.NewDeleteManyModel().SetFilter(bson.D{}),
	}
}

func updateMany(filter, update any) call {
	return func(ctx context.Context, s *stage) (any, error) { return show2(s.coll.UpdateMany(ctx, filter, update)) }
}

func deleteMany(filter any) call {
	return func(ctx context.Context, s *stage) (any, error) { return show2(s.coll.DeleteMany(ctx, filter)) }
}

func bulkWrite(models ...mongo.WriteModel) call {
	return func(ctx context.Context, s *stage) (any, error) { return show2(s.coll.BulkWrite(ctx, models)) }
}

func bulkWriteUnordered(models ...mongo.WriteModel) call {
	return func(ctx context.Context, s *stage) (any, error) {
		return show2(s.coll.BulkWrite(ctx, models, options.BulkWrite().SetOrdered(false)))
	}
}
