package unified

import (
	"context"
	"errors"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// made converts a result that is there into a document.
func made[R any](result *R, convert func(*R) bson.D) any {
	if result == nil {
		return nil
	}
	return convert(result)
}

func insertOneResult(r *mongoInsertOneResult) bson.D {
	return bson.D{{Key: "insertedId", Value: r.InsertedID}, {Key: "acknowledged", Value: r.Acknowledged}}
}

// insertManyResult has the fields of a bulk write's result, which is what the CRUD specification makes it.
func insertManyResult(r *mongoInsertManyResult) bson.D {
	ids := bson.D{}
	for i, id := range r.InsertedIDs {
		ids = append(ids, bson.E{Key: strconv.Itoa(i), Value: id})
	}
	return append(bulkResult(&mongoBulkResult{InsertedCount: int64(len(ids)), Acknowledged: r.Acknowledged}), bson.E{Key: "insertedIds", Value: ids})
}

func updateResult(r *mongoUpdateResult) bson.D {
	d := bson.D{
		{Key: "matchedCount", Value: r.MatchedCount},
		{Key: "modifiedCount", Value: r.ModifiedCount},
		{Key: "upsertedCount", Value: r.UpsertedCount},
		{Key: "acknowledged", Value: r.Acknowledged},
	}
	if r.UpsertedID != nil {
		d = append(d, bson.E{Key: "upsertedId", Value: r.UpsertedID})
	}
	return d
}

func deleteResult(r *mongoDeleteResult) bson.D {
	return bson.D{{Key: "deletedCount", Value: r.DeletedCount}, {Key: "acknowledged", Value: r.Acknowledged}}
}

func bulkResult(r *mongoBulkResult) bson.D {
	ids := bson.D{}
	for i, id := range r.UpsertedIDs {
		ids = append(ids, bson.E{Key: strconv.FormatInt(i, 10), Value: id})
	}
	return bson.D{
		{Key: "insertedCount", Value: r.InsertedCount},
		{Key: "matchedCount", Value: r.MatchedCount},
		{Key: "modifiedCount", Value: r.ModifiedCount},
		{Key: "deletedCount", Value: r.DeletedCount},
		{Key: "upsertedCount", Value: r.UpsertedCount},
		{Key: "upsertedIds", Value: ids},
		{Key: "acknowledged", Value: r.Acknowledged},
	}
}

func clientBulkResult(r *mongoClientBulkResult) bson.D {
	d := bson.D{
		{Key: "insertedCount", Value: r.InsertedCount},
		{Key: "matchedCount", Value: r.MatchedCount},
		{Key: "modifiedCount", Value: r.ModifiedCount},
		{Key: "deletedCount", Value: r.DeletedCount},
		{Key: "upsertedCount", Value: r.UpsertedCount},
		{Key: "acknowledged", Value: r.Acknowledged},
	}
	if !r.HasVerboseResults {
		return d
	}
	inserts, updates, deletes := bson.D{}, bson.D{}, bson.D{}
	for i, one := range r.InsertResults {
		inserts = append(inserts, bson.E{Key: strconv.Itoa(i), Value: bson.D{{Key: "insertedId", Value: one.InsertedID}}})
	}
	for i, one := range r.UpdateResults {
		result := bson.D{{Key: "matchedCount", Value: one.MatchedCount}, {Key: "modifiedCount", Value: one.ModifiedCount}}
		if one.UpsertedID != nil {
			result = append(result, bson.E{Key: "upsertedId", Value: one.UpsertedID})
		}
		updates = append(updates, bson.E{Key: strconv.Itoa(i), Value: result})
	}
	for i, one := range r.DeleteResults {
		deletes = append(deletes, bson.E{Key: strconv.Itoa(i), Value: bson.D{{Key: "deletedCount", Value: one.DeletedCount}}})
	}
	return append(d,
		bson.E{Key: "insertResults", Value: inserts},
		bson.E{Key: "updateResults", Value: updates},
		bson.E{Key: "deleteResults", Value: deletes})
}

// document is the result of an operation that returns one or none.
func document(found interface{ Raw() (bson.Raw, error) }) (any, error) {
	doc, err := found.Raw()
	if errors.Is(err, mongoErrNoDocuments) {
		return bson.RawValue{Type: bson.TypeNull}, nil
	}
	if err != nil {
		return nil, err
	}
	return doc, nil
}

// all reads a cursor to its end.
func all(ctx context.Context) func(*mongoCursor, error) (any, error) {
	return func(c *mongoCursor, err error) (any, error) {
		if err != nil {
			return nil, err
		}
		var docs []bson.Raw
		err = c.All(ctx, &docs)
		return documents(docs), err
	}
}
