package mongo_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/holdfast-db/holdfast/mongo"
)

// The writes with several statements have the same results on mongotest and on a real server.
func TestWritesOfManyDocuments(t *testing.T) {
	servers(t, func(t *testing.T, coll *mongo.Collection) {
		ctx := t.Context()
		r, err := coll.BulkWrite(ctx, models{
			insertOf(1), insertOf(2), insertOf(3), updateOneOf(doc("_id", 1), set1), updateManyOf(doc("_id", doc("$gte", 2)), set1),
			updateOneOf(doc("_id", 9), set1).SetUpsert(true), mongo.NewReplaceOneModel().SetFilter(doc("_id", 3)).SetReplacement(doc("r", 1)),
			deleteOneOf(doc("_id", 1)), deleteManyOf(doc("_id", doc("$in", []int{1, 2}))),
		}, options.BulkWrite().SetComment("many"))
		if err != nil || r.InsertedCount != 3 || r.MatchedCount != 4 || r.ModifiedCount != 4 || r.UpsertedCount != 1 ||
			r.UpsertedIDs[5] != int32(9) || r.DeletedCount != 2 {
			t.Errorf("BulkWrite: %+v, %v", r, err)
		}
		r, err = coll.BulkWrite(ctx, models{insertOf(3), insertOf(4), insertOf(9)}, options.BulkWrite().SetOrdered(false))
		if e := bulk(t, err); !slices.Equal(indexes(e), []int{0, 2}) || r.InsertedCount != 1 || !mongo.IsDuplicateKeyError(err) {
			t.Errorf("an unordered BulkWrite with errors: %+v, %v", r, err)
		}
		u, err := coll.UpdateMany(ctx, doc(), doc("$inc", doc("n", 1)))
		if err != nil || u.MatchedCount != 3 || u.ModifiedCount != 3 {
			t.Errorf("UpdateMany: %+v, %v", u, err)
		}
		removed, err := coll.DeleteMany(ctx, doc("n", 1))
		if err != nil || removed.DeletedCount != 3 {
			t.Errorf("DeleteMany: %+v, %v", removed, err)
		}
		unacknowledged := coll.Database().Collection(coll.Name(), options.Collection().SetWriteConcern(writeconcern.Unacknowledged()))
		if r, err := unacknowledged.BulkWrite(ctx, models{insertOf(5)}); err != nil || r.Acknowledged {
			t.Errorf("an unacknowledged BulkWrite: %+v, %v", r, err)
		}
	})
}

// A server before 8.0 has no bulkWrite command, and gets none.
func TestClientBulkWriteOnEveryServer(t *testing.T) {
	servers(t, func(t *testing.T, coll *mongo.Collection) {
		write := mongo.ClientBulkWrite{
			Database: coll.Database().Name(), Collection: coll.Name(), Model: mongo.NewClientInsertOneModel().SetDocument(doc("_id", 1)),
		}
		r, err := coll.Database().Client().BulkWrite(t.Context(), []mongo.ClientBulkWrite{write}, options.ClientBulkWrite().SetVerboseResults(true))
		found := coll.FindOne(t.Context(), doc("_id", 1)).Err()
		switch {
		case err == nil && (r.InsertedCount != 1 || r.InsertResults[0].InsertedID != int32(1) || found != nil):
			t.Errorf("%+v, %v", r, found)
		case err != nil && (!strings.Contains(err.Error(), "needs a server of wire version 25") || !errors.Is(found, mongo.ErrNoDocuments)):
			t.Errorf("%v, %v", err, found)
		}
	})
}
