package situations

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/xoptions"
)

// added are the elements that the internal option addCommandFields adds to a command. MongoDB's tools add such ones.
var added = bson.D{{Key: "maxTimeMS", Value: int32(4000)}, {Key: "comment", Value: "added"}}

// having sets an internal option of a builder. Both clients take the builder, whatever the result of the call is.
func having[B any](set func(B, string, any) error, builder B, key string, value any) B {
	if err := set(builder, key, value); err != nil {
		panic(err)
	}
	return builder
}

// internalSituations use the internal options of the official driver, which MongoDB's own tools do.
func internalSituations() []situation {
	var all []situation
	for name, do := range map[string]func(ctx context.Context, w *world) (any, error){
		"InsertOne": func(ctx context.Context, w *world) (any, error) {
			return w.coll.InsertOne(ctx, bson.D{{Key: "_id", Value: 9}}, having(xoptions.SetInternalInsertOneOptions, options.InsertOne(), "addCommandFields", added))
		},
		"InsertMany": func(ctx context.Context, w *world) (any, error) {
			return w.coll.InsertMany(ctx, []bson.D{{{Key: "_id", Value: 9}}}, having(xoptions.SetInternalInsertManyOptions, options.InsertMany(), "addCommandFields", added))
		},
		"UpdateOne": func(ctx context.Context, w *world) (any, error) {
			return w.coll.UpdateOne(ctx, bson.D{}, set1, having(xoptions.SetInternalUpdateOneOptions, options.UpdateOne(), "addCommandFields", added))
		},
		"UpdateMany": func(ctx context.Context, w *world) (any, error) {
			return w.coll.UpdateMany(ctx, bson.D{}, set1, having(xoptions.SetInternalUpdateManyOptions, options.UpdateMany(), "addCommandFields", added))
		},
		"ReplaceOne": func(ctx context.Context, w *world) (any, error) {
			return w.coll.ReplaceOne(ctx, bson.D{}, bson.D{}, having(xoptions.SetInternalReplaceOptions, options.Replace(), "addCommandFields", added))
		},
		"FindOneAndUpdate": func(ctx context.Context, w *world) (any, error) {
			raw, err := w.coll.FindOneAndUpdate(ctx, bson.D{}, set1, having(xoptions.SetInternalFindOneAndUpdateOptions, options.FindOneAndUpdate(), "addCommandFields", added)).Raw()
			return raw, err
		},
		"FindOneAndReplace": func(ctx context.Context, w *world) (any, error) {
			raw, err := w.coll.FindOneAndReplace(ctx, bson.D{}, bson.D{}, having(xoptions.SetInternalFindOneAndReplaceOptions, options.FindOneAndReplace(), "addCommandFields", added)).Raw()
			return raw, err
		},
		"BulkWrite": func(ctx context.Context, w *world) (any, error) {
			return w.coll.BulkWrite(ctx, []mongo.WriteModel{
				mongo.NewInsertOneModel().SetDocument(bson.D{{Key: "_id", Value: 9}}), mongo.NewUpdateOneModel().SetFilter(bson.D{}).SetUpdate(set1),
				mongo.NewDeleteOneModel().SetFilter(bson.D{}),
			}, having(xoptions.SetInternalBulkWriteOptions, options.BulkWrite(), "addCommandFields", added))
		},
		"Client.BulkWrite": func(ctx context.Context, w *world) (any, error) {
			return w.client.BulkWrite(ctx, []mongo.ClientBulkWrite{{Database: "db", Collection: "c", Model: mongo.NewClientDeleteOneModel().SetFilter(bson.D{})}},
				having(xoptions.SetInternalClientBulkWriteOptions, options.ClientBulkWrite(), "addCommandFields", added))
		},
	} {
		all = append(all, situation{name: name + ", addCommandFields", do: do})
	}
	return append(all, situation{
		name: "InsertOne with w: 0 in an explicit session",
		do: func(ctx context.Context, w *world) (any, error) {
			return nil, w.client.UseSession(ctx, func(ctx context.Context) error {
				unacknowledged := w.db.Collection("c", options.Collection().SetWriteConcern(writeconcern.Unacknowledged()))
				_, err := unacknowledged.InsertOne(ctx, bson.D{{Key: "_id", Value: 9}})
				return err
			})
		},
	}, situation{
		name: "authenticateToAnything",
		configure: func(o *options.ClientOptions) {
			if err := xoptions.SetInternalClientOptions(o, "authenticateToAnything", true); err != nil {
				panic(err)
			}
		},
		do: func(ctx context.Context, w *world) (any, error) { return w.coll.CountDocuments(ctx, bson.D{}) },
	})
}

var set1 = bson.D{{Key: "$set", Value: bson.D{{Key: "n", Value: 1}}}}
