package explore_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/explore"
	"github.com/holdfast-db/holdfast/mongo"
)

// connect returns a client of the run's servers.
func connect(e *explore.Exploration) *mongo.Client {
	client, err := mongo.Connect(options.Client().ApplyURI(e.URI()).SetDialer(e.Dialer()))
	if err != nil {
		e.Fatalf("connect: %v", err)
	}
	e.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	return client
}

// increment increments a counter, and reads it once.
func increment(e *explore.Exploration) {
	counters := connect(e).Database("shop").Collection("counters")
	_, err := counters.UpdateOne(e.Context(), bson.D{{Key: "_id", Value: "c"}}, bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}}, options.UpdateOne().SetUpsert(true))
	e.Logf("UpdateOne returned %v", err)
	e.Check(func() error {
		n, err2 := counters.CountDocuments(e.Context(), bson.D{{Key: "n", Value: 1}})
		all, err3 := counters.CountDocuments(e.Context(), bson.D{})
		if err2 != nil || err3 != nil {
			return errors.Join(err2, err3)
		}
		if all != n || err == nil && n != 1 {
			return fmt.Errorf("%d of %d counters are 1", n, all)
		}
		return nil
	})
}

func TestIncrementMemory(t *testing.T) { explore.Run(t, increment, explore.InMemory()) }
func TestIncrementTCP(t *testing.T)    { explore.Run(t, increment) }
