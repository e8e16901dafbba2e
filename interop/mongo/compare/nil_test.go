package compare

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

var nilRows = []row{
	{name: "insertOne of nil", do: insertOne(nil)},
	{name: "insertOne of a nil map", do: insertOne(bson.M(nil))},
	{
		name: "insertOne of a nil pointer", do: insertOne((*bson.D)(nil)),
		differ: []string{"error"}, why: "a nil pointer is ErrNilDocument for every argument that is a document",
	},
	{name: "insertOne of an empty raw document", do: insertOne(bson.Raw{})},
	{name: "insertOne of a number", do: insertOne(5)},
	{name: "insertMany of nil", do: insertMany(nil)},
	{name: "insertMany of an empty slice", do: insertMany([]any{})},
	{name: "insertMany of a document", do: insertMany(bson.D{{Key: "a", Value: 1}})},
	{name: "insertMany of an array", do: insertMany([1]any{bson.D{}})},
	{name: "insertMany with a nil document", do: insertMany([]any{bson.D{{Key: "_id", Value: 1}}, nil})},
	{name: "findOne with a nil filter", do: findOne(nil)},
	{name: "findOne with a nil map", do: findOne(bson.M(nil))},
	{name: "find with a nil filter", do: func(ctx context.Context, s *stage) (any, error) {
		_, err := s.coll.Find(ctx, nil)
		return nil, err
	}},
	{name: "updateOne with a nil filter", do: updateOne(nil, inc)},
	{name: "updateOne with a nil update", do: updateOne(byID, nil)},
	{name: "updateOne with an empty update", do: updateOne(byID, bson.D{})},
	{name: "updateOne with a replacement", do: updateOne(byID, bson.D{{Key: "x", Value: 1}})},
	{name: "updateOne with an empty pipeline", do: updateOne(byID, bson.A{})},
	{name: "updateOne with a pipeline whose stage is no operator", do: updateOne(byID, bson.A{bson.D{{Key: "x", Value: 1}}})},
	{name: "updateOne with a number", do: updateOne(byID, 5)},
	{name: "updateByID with a nil id", do: func(ctx context.Context, s *stage) (any, error) { return show2(s.coll.UpdateByID(ctx, nil, inc)) }},
	{name: "replaceOne with a nil document", do: replaceOne(byID, nil)},
	{name: "replaceOne with an update", do: replaceOne(byID, inc)},
	{name: "replaceOne with an empty document", do: replaceOne(byID, bson.D{})},
	{name: "deleteOne with a nil filter", do: func(ctx context.Context, s *stage) (any, error) { return show2(s.coll.DeleteOne(ctx, nil)) }},
	{name: "findOneAndUpdate with a nil update", do: func(ctx context.Context, s *stage) (any, error) {
		return nil, s.coll.FindOneAndUpdate(ctx, byID, nil).Err()
	}},
	{name: "a nil context", do: func(_ context.Context, s *stage) (any, error) { return findOne(byID)(nil, s) }},

	{name: "a nil options builder of insertOne", do: func(ctx context.Context, s *stage) (any, error) {
		_, err := s.coll.InsertOne(ctx, bson.D{{Key: "_id", Value: 1}}, (*options.InsertOneOptionsBuilder)(nil))
		return nil, err
	}},
	{name: "a nil options builder of insertMany", do: func(ctx context.Context, s *stage) (any, error) {
		_, err := s.coll.InsertMany(ctx, []any{bson.D{{Key: "_id", Value: 1}}}, (*options.InsertManyOptionsBuilder)(nil))
		return nil, err
	}},
	{name: "a nil options builder of find", do: func(ctx context.Context, s *stage) (any, error) {
		_, err := s.coll.Find(ctx, bson.D{}, (*options.FindOptionsBuilder)(nil), options.Find().SetLimit(1))
		return nil, err
	}},
	{name: "a nil options builder of findOne", do: func(ctx context.Context, s *stage) (any, error) {
		return nil, s.coll.FindOne(ctx, bson.D{}, (*options.FindOneOptionsBuilder)(nil)).Err()
	}},
	{name: "a nil options builder of updateOne", do: func(ctx context.Context, s *stage) (any, error) {
		return show2(s.coll.UpdateOne(ctx, byID, inc, (*options.UpdateOneOptionsBuilder)(nil)))
	}},
	{name: "a nil options builder of replaceOne", do: func(ctx context.Context, s *stage) (any, error) {
		return show2(s.coll.ReplaceOne(ctx, byID, bson.D{}, (*options.ReplaceOptionsBuilder)(nil)))
	}},
	{name: "a nil options builder of deleteOne", do: func(ctx context.Context, s *stage) (any, error) {
		return show2(s.coll.DeleteOne(ctx, byID, (*options.DeleteOneOptionsBuilder)(nil)))
	}},
	{name: "a nil options builder of findOneAndUpdate", do: func(ctx context.Context, s *stage) (any, error) {
		return nil, s.coll.FindOneAndUpdate(ctx, byID, inc, (*options.FindOneAndUpdateOptionsBuilder)(nil)).Err()
	}},
	{name: "a nil options builder of drop", do: func(ctx context.Context, s *stage) (any, error) {
		return nil, s.coll.Drop(ctx, (*options.DropCollectionOptionsBuilder)(nil))
	}},
	{name: "a nil options builder of runCommand", do: func(ctx context.Context, s *stage) (any, error) {
		return nil, s.db.RunCommand(ctx, bson.D{{Key: "ping", Value: 1}}, (*options.RunCmdOptionsBuilder)(nil)).Err()
	}},
	{name: "a nil options builder of a collection", do: func(ctx context.Context, s *stage) (any, error) {
		return nil, s.db.Collection("c", (*options.CollectionOptionsBuilder)(nil)).FindOne(ctx, byID).Err()
	}},
	{name: "a nil options value", do: func(ctx context.Context, s *stage) (any, error) {
		return nil, s.coll.FindOne(ctx, byID, nil).Err()
	}},
	{name: "a marshaler that panics in the filter", do: findOne(panicking{})},
	{name: "a marshaler that panics in the document", do: insertOne(panicking{})},
	{name: "a marshaler that fails in the filter", do: findOne(failing{})},
	{name: "a marshaler that fails in the document", do: insertOne(failing{})},
}

// panicking and failing are documents that cannot be encoded.
type (
	panicking struct{}
	failing   struct{}
)

func (panicking) MarshalBSON() ([]byte, error) { panic("no document") }
func (failing) MarshalBSON() ([]byte, error)   { return nil, context.Canceled }
