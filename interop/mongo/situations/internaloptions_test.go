package situations

import (
	"context"
	"maps"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/xoptions"
)

// internals are internal options of the official driver. MongoDB's own tools set some.
type internals map[string]any

const (
	addFields       = "addCommandFields"
	rawData         = "rawData"
	collectionUUIDs = "collectionUUIDs"
)

// internalSets are the internal options with which each method is called that can have them.
var internalSets = map[string]internals{
	"addCommandFields":             {addFields: bson.D{{Key: "maxTimeMS", Value: int32(4000)}, {Key: "comment", Value: "added"}}},
	"addCommandFields and rawData": {addFields: bson.D{{Key: "comment", Value: "added"}}, rawData: true},
	"addCommandFields with a field that the server does not know": {addFields: bson.D{{Key: "nonsense", Value: 1}}},
	"addCommandFields with another collection's UUID":             {addFields: bson.D{{Key: "collectionUUID", Value: binaryUUID(1)}}},
	"addCommandFields without elements":                           {addFields: bson.D{}},
	"addCommandFields that are nil":                               {addFields: bson.D(nil)},
	"addCommandFields that cannot be encoded":                     {addFields: bson.D{{Key: "x", Value: failing{}}}},
	"addCommandFields with a NUL byte in a key":                   {addFields: bson.D{{Key: "a\x00b", Value: 1}}},
	"rawData": {rawData: true},
}

// having sets internal options of a builder. Both clients take the builder, whatever the result of the call is.
func having[B any](set func(B, string, any) error, builder B, o internals) B {
	for _, key := range slices.Sorted(maps.Keys(o)) {
		if err := set(builder, key, o[key]); err != nil {
			panic(err)
		}
	}
	return builder
}

// internalCalls are the methods that can have addCommandFields.
var internalCalls = map[string]func(ctx context.Context, w *world, o internals) (any, error){
	"Collection.InsertOne": func(ctx context.Context, w *world, o internals) (any, error) {
		return w.coll.InsertOne(ctx, nine, having(xoptions.SetInternalInsertOneOptions, options.InsertOne(), o))
	},
	"Collection.InsertMany": func(ctx context.Context, w *world, o internals) (any, error) {
		return w.coll.InsertMany(ctx, []bson.D{nine}, having(xoptions.SetInternalInsertManyOptions, options.InsertMany(), o))
	},
	"Collection.UpdateOne": func(ctx context.Context, w *world, o internals) (any, error) {
		return w.coll.UpdateOne(ctx, bson.D{}, set1, having(xoptions.SetInternalUpdateOneOptions, options.UpdateOne(), o))
	},
	"Collection.UpdateByID": func(ctx context.Context, w *world, o internals) (any, error) {
		return w.coll.UpdateByID(ctx, 1, set1, having(xoptions.SetInternalUpdateOneOptions, options.UpdateOne(), o))
	},
	"Collection.UpdateMany": func(ctx context.Context, w *world, o internals) (any, error) {
		return w.coll.UpdateMany(ctx, bson.D{}, set1, having(xoptions.SetInternalUpdateManyOptions, options.UpdateMany(), o))
	},
	"Collection.ReplaceOne": func(ctx context.Context, w *world, o internals) (any, error) {
		return w.coll.ReplaceOne(ctx, bson.D{}, bson.D{}, having(xoptions.SetInternalReplaceOptions, options.Replace(), o))
	},
	"Collection.DeleteOne": func(ctx context.Context, w *world, o internals) (any, error) {
		return w.coll.DeleteOne(ctx, bson.D{}, having(xoptions.SetInternalDeleteOneOptions, options.DeleteOne(), o))
	},
	"Collection.DeleteMany": func(ctx context.Context, w *world, o internals) (any, error) {
		return w.coll.DeleteMany(ctx, bson.D{}, having(xoptions.SetInternalDeleteManyOptions, options.DeleteMany(), o))
	},
	"Collection.FindOneAndUpdate": func(ctx context.Context, w *world, o internals) (any, error) {
		return w.coll.FindOneAndUpdate(ctx, bson.D{}, set1, having(xoptions.SetInternalFindOneAndUpdateOptions, options.FindOneAndUpdate(), o)).Raw()
	},
	"Collection.FindOneAndReplace": func(ctx context.Context, w *world, o internals) (any, error) {
		return w.coll.FindOneAndReplace(ctx, bson.D{}, bson.D{}, having(xoptions.SetInternalFindOneAndReplaceOptions, options.FindOneAndReplace(), o)).Raw()
	},
	"Collection.FindOneAndDelete": func(ctx context.Context, w *world, o internals) (any, error) {
		return w.coll.FindOneAndDelete(ctx, bson.D{}, having(xoptions.SetInternalFindOneAndDeleteOptions, options.FindOneAndDelete(), o)).Raw()
	},
	"Collection.BulkWrite": func(ctx context.Context, w *world, o internals) (any, error) {
		return w.coll.BulkWrite(ctx, []mongo.WriteModel{
			mongo.NewInsertOneModel().SetDocument(nine), mongo.NewUpdateOneModel().SetFilter(bson.D{}).SetUpdate(set1),
			mongo.NewDeleteOneModel().SetFilter(bson.D{}),
		}, having(xoptions.SetInternalBulkWriteOptions, options.BulkWrite(), o))
	},
	"Client.BulkWrite": func(ctx context.Context, w *world, o internals) (any, error) {
		return w.client.BulkWrite(ctx, deletesOf("c"), having(xoptions.SetInternalClientBulkWriteOptions, options.ClientBulkWrite(), o))
	},
	"Collection.CountDocuments": func(ctx context.Context, w *world, o internals) (any, error) {
		return w.coll.CountDocuments(ctx, bson.D{}, having(xoptions.SetInternalCountOptions, options.Count(), o))
	},
	"Collection.EstimatedDocumentCount": func(ctx context.Context, w *world, o internals) (any, error) {
		return w.coll.EstimatedDocumentCount(ctx, having(xoptions.SetInternalEstimatedDocumentCountOptions, options.EstimatedDocumentCount(), o))
	},
	"Collection.Distinct": func(ctx context.Context, w *world, o internals) (any, error) {
		return w.coll.Distinct(ctx, "n", bson.D{}, having(xoptions.SetInternalDistinctOptions, options.Distinct(), o)).Raw()
	},
	"Collection.Find": func(ctx context.Context, w *world, o internals) (any, error) {
		cursor, err := w.coll.Find(ctx, bson.D{}, having(xoptions.SetInternalFindOptions, options.Find().SetBatchSize(2), o))
		return readAll(ctx, cursor, err)
	},
	"Collection.FindOne": func(ctx context.Context, w *world, o internals) (any, error) {
		return w.coll.FindOne(ctx, bson.D{}, having(xoptions.SetInternalFindOneOptions, options.FindOne(), o)).Raw()
	},
	"IndexView.CreateOne": func(ctx context.Context, w *world, o internals) (any, error) {
		return w.coll.Indexes().CreateOne(ctx, indexOfN, having(xoptions.SetInternalCreateIndexesOptions, options.CreateIndexes(), o))
	},
	"IndexView.CreateMany": func(ctx context.Context, w *world, o internals) (any, error) {
		return w.coll.Indexes().CreateMany(ctx, []mongo.IndexModel{indexOfN}, having(xoptions.SetInternalCreateIndexesOptions, options.CreateIndexes(), o))
	},
	"IndexView.DropOne": func(ctx context.Context, w *world, o internals) (any, error) {
		return nil, w.coll.Indexes().DropOne(ctx, "none", having(xoptions.SetInternalDropIndexesOptions, options.DropIndexes(), o))
	},
	"IndexView.DropWithKey": func(ctx context.Context, w *world, o internals) (any, error) {
		return nil, w.coll.Indexes().DropWithKey(ctx, bson.D{{Key: "n", Value: 1}}, having(xoptions.SetInternalDropIndexesOptions, options.DropIndexes(), o))
	},
	"IndexView.DropAll": func(ctx context.Context, w *world, o internals) (any, error) {
		return nil, w.coll.Indexes().DropAll(ctx, having(xoptions.SetInternalDropIndexesOptions, options.DropIndexes(), o))
	},
	"IndexView.List": func(ctx context.Context, w *world, o internals) (any, error) {
		cursor, err := w.coll.Indexes().List(ctx, having(xoptions.SetInternalListIndexesOptions, options.ListIndexes(), o))
		return readAll(ctx, cursor, err)
	},
	"IndexView.ListSpecifications": func(ctx context.Context, w *world, o internals) (any, error) {
		return w.coll.Indexes().ListSpecifications(ctx, having(xoptions.SetInternalListIndexesOptions, options.ListIndexes(), o))
	},
	"Collection.Drop": func(ctx context.Context, w *world, o internals) (any, error) {
		if _, has := o[rawData]; has {
			return "not an option of Drop", nil
		}
		return nil, w.coll.Drop(ctx, having(xoptions.SetInternalDropCollectionOptions, options.DropCollection(), o))
	},
}

// uuidSets are values of collectionUUIDs, with the collections of a delete each.
var uuidSets = map[string]struct {
	collections string
	uuids       [][]byte
}{
	"nil for one write":                    {"c", nil},
	"none for one write":                   {"c", [][]byte{}},
	"one for two writes":                   {"c c", [][]byte{uuidOf(1)}},
	"two for one write":                    {"c", [][]byte{uuidOf(1), uuidOf(2)}},
	"one that is nil":                      {"c", [][]byte{nil}},
	"one that is empty":                    {"c", [][]byte{{}}},
	"one that is too short":                {"c", [][]byte{{1, 2}}},
	"one for one write":                    {"c", [][]byte{uuidOf(1)}},
	"the same for two writes":              {"c c", [][]byte{uuidOf(1), uuidOf(1)}},
	"two for two writes of one collection": {"c c", [][]byte{uuidOf(1), uuidOf(2)}},
	"one UUID for two collections":         {"c d", [][]byte{uuidOf(1), uuidOf(1)}},
	"nil, an empty one, nil and a UUID":    {"c c c c", [][]byte{nil, {}, nil, uuidOf(1)}},
	"UUIDs that come again":                {"c d c d c", [][]byte{uuidOf(1), uuidOf(2), uuidOf(1), nil, uuidOf(2)}},
}

// internalSituations use the internal options of the official driver, which MongoDB's own tools do.
func internalSituations() []situation {
	var all []situation
	for name, call := range internalCalls {
		for which, o := range internalSets {
			all = append(all, situation{name: name + ", " + which, do: func(ctx context.Context, w *world) (any, error) { return call(ctx, w, o) }})
		}
	}
	for name, set := range uuidSets {
		all = append(all, situation{name: "Client.BulkWrite, collectionUUIDs, " + name, do: func(ctx context.Context, w *world) (any, error) {
			o := having(xoptions.SetInternalClientBulkWriteOptions, options.ClientBulkWrite().SetOrdered(false), internals{collectionUUIDs: set.uuids})
			return w.client.BulkWrite(ctx, deletesOf(strings.Fields(set.collections)...), o)
		}})
	}
	return append(all, situation{
		name: "InsertOne with w: 0 in an explicit session",
		do: func(ctx context.Context, w *world) (any, error) {
			return nil, w.client.UseSession(ctx, func(ctx context.Context) error {
				unacknowledged := w.db.Collection("c", options.Collection().SetWriteConcern(writeconcern.Unacknowledged()))
				_, err := unacknowledged.InsertOne(ctx, nine)
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

var (
	nine     = bson.D{{Key: "_id", Value: 9}}
	set1     = bson.D{{Key: "$set", Value: bson.D{{Key: "n", Value: 1}}}}
	indexOfN = mongo.IndexModel{Keys: bson.D{{Key: "n", Value: 1}}}
)

// deletesOf deletes a document in each of these collections.
func deletesOf(collections ...string) []mongo.ClientBulkWrite {
	var writes []mongo.ClientBulkWrite
	for _, c := range collections {
		writes = append(writes, mongo.ClientBulkWrite{Database: "db", Collection: c, Model: mongo.NewClientDeleteOneModel().SetFilter(bson.D{})})
	}
	return writes
}

func uuidOf(n byte) []byte { return slices.Repeat([]byte{n}, 16) }

func binaryUUID(n byte) bson.Binary {
	return bson.Binary{Subtype: bson.TypeBinaryUUID, Data: uuidOf(n)}
}
