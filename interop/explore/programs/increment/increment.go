// Package increment gives each of three accounts ten points. Drivers do not repeat an update of many documents, so the
// program does.
package increment

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/interop/explore/programs/outcome"
)

const (
	points = 10
	tries  = 3
)

var add = bson.E{Key: "$inc", Value: bson.D{{Key: "points", Value: points}}}

// Mistake repeats the increment after any error, also when it was applied.
func Mistake(ctx context.Context, client *mongo.Client) error {
	return give(ctx, client, bson.D{}, bson.D{add})
}

// Mended stores an id with the increment, and changes no account that has the id.
func Mended(ctx context.Context, client *mongo.Client) error {
	id := bson.NewObjectID()
	lacksIt := bson.D{{Key: "given", Value: bson.D{{Key: "$ne", Value: id}}}}
	return give(ctx, client, lacksIt, bson.D{add, {Key: "$push", Value: bson.D{{Key: "given", Value: id}}}})
}

func give(ctx context.Context, client *mongo.Client, filter, update bson.D) error {
	accounts := accountsOf(client)
	_, err := accounts.InsertMany(ctx, []any{account("ada"), account("bo"), account("cy")})
	if err != nil {
		return outcome.With(outcome.ErrNotBegun, err)
	}
	for range tries {
		if _, err = accounts.UpdateMany(ctx, filter, update); err == nil {
			return nil
		}
	}
	return outcome.With(outcome.ErrUnknown, err)
}

func account(id string) bson.D { return bson.D{{Key: "_id", Value: id}, {Key: "points", Value: 0}} }

// Audit checks that each account has its points once if the program said done.
func Audit(ctx context.Context, client *mongo.Client, said error) error {
	cursor, err := accountsOf(client).Find(ctx, bson.D{})
	if err != nil {
		return err
	}
	var found []struct {
		ID     string `bson:"_id"`
		Points int64
	}
	if err := cursor.All(ctx, &found); err != nil {
		return err
	}
	if said == nil && len(found) != 3 {
		return fmt.Errorf("there are %d accounts", len(found))
	}
	for _, a := range found {
		if err := outcome.Check(said, "points of "+a.ID, a.Points/points); err != nil {
			return err
		}
	}
	return nil
}

func accountsOf(client *mongo.Client) *mongo.Collection {
	return client.Database("increment").Collection("accounts")
}
