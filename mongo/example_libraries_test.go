package mongo_test

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	official "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// migrate stands for a library that takes a client of the official driver.
func migrate(ctx context.Context, client *official.Client) error {
	_, err := client.Database("shop").Collection("migrations").InsertOne(ctx, bson.D{{Key: "_id", Value: 1}})
	return err
}

// A program that uses a library for the official client has two clients, made of the same options.
func Example_libraries() {
	rs, err := mongotest.RunReplicaSet(1, mongotest.InMemory())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer rs.Close()
	ctx := context.Background()
	connection := options.Client().ApplyURI(rs.URI()).SetDialer(rs.Dialer()).SetAppName("shop")

	theirs, err := official.Connect(connection, options.Client().SetMaxPoolSize(2)) // only for the library
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(migrate(ctx, theirs))
	if err := theirs.Disconnect(ctx); err != nil { // it is needed at the start only
		fmt.Println(err)
		return
	}

	client, err := mongo.Connect(connection)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Disconnect(ctx)
	n, err := client.Database("shop").Collection("migrations").CountDocuments(ctx, bson.D{})
	fmt.Println(n, err)
	// Output:
	// <nil>
	// 1 <nil>
}
