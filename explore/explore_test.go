package explore_test

import (
	"context"
	"errors"
	"fmt"

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

func counters(client *mongo.Client) *mongo.Collection {
	return client.Database("shop").Collection("counters")
}

var (
	theCounter = bson.D{{Key: "_id", Value: "c"}}
	plusOne    = bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}}
)

// add adds one to the counter.
func add(ctx context.Context, client *mongo.Client) error {
	_, err := counters(client).UpdateOne(ctx, theCounter, plusOne, options.UpdateOne().SetUpsert(true))
	return err
}

// has returns an error if the counter is not one of the numbers.
func has(ctx context.Context, client *mongo.Client, numbers ...int) error {
	var counter struct{ N int }
	err := counters(client).FindOne(ctx, theCounter).Decode(&counter)
	if err != nil && !errors.Is(err, mongo.ErrNoDocuments) {
		return err
	}
	for _, n := range numbers {
		if counter.N == n {
			return nil
		}
	}
	return fmt.Errorf("the counter is %d, wanted %v", counter.N, numbers)
}

// addOnce is a program without a mistake.
func addOnce(e *explore.Exploration) {
	client := connect(e)
	err := add(e.Context(), client)
	e.Logf("add returned %v", err)
	e.Check(func() error {
		if err != nil {
			return has(e.Context(), client, 0, 1)
		}
		return has(e.Context(), client, 1)
	})
}

// addBlindly is a program with a mistake: it tries again after any error.
func addBlindly(e *explore.Exploration) {
	client := connect(e)
	err := add(e.Context(), client)
	if err != nil {
		err = add(e.Context(), client)
	}
	e.Logf("add returned %v", err)
	e.Check(func() error { return has(e.Context(), client, 1) })
}
