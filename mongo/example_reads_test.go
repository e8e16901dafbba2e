package mongo_test

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
)

// order is a document of the examples.
type order struct {
	ID       int `bson:"_id"`
	Customer string
}

// insertOrders inserts three orders of two customers.
func insertOrders(client *mongo.Client) *mongo.Collection {
	orders := client.Database("app").Collection("orders")
	_, err := orders.InsertMany(context.Background(), []order{{1, "Ada"}, {2, "Bob"}, {3, "Ada"}})
	check(err)
	return orders
}

// A cursor is closed, and after its last document its error is looked at.
func ExampleCursor() {
	_, client, end := run()
	defer end()
	ctx := context.Background()
	orders := insertOrders(client)

	cursor, err := orders.Find(ctx, bson.D{{Key: "customer", Value: "Ada"}},
		options.Find().SetSort(bson.D{{Key: "_id", Value: -1}}).SetBatchSize(1))
	check(err)
	defer cursor.Close(ctx)
	for cursor.Next(ctx) {
		var o order
		check(cursor.Decode(&o))
		fmt.Println(o.ID, o.Customer)
	}
	check(cursor.Err())
	// Output:
	// 3 Ada
	// 1 Ada
}

// All reads the rest of a cursor and closes it.
func ExampleCursor_All() {
	_, client, end := run()
	defer end()
	ctx := context.Background()

	cursor, err := insertOrders(client).Find(ctx, bson.D{}, options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}))
	check(err)
	var all []order
	check(cursor.All(ctx, &all))
	fmt.Println(all)
	// Output: [{1 Ada} {2 Bob} {3 Ada}]
}

// The values of a field, each once.
func ExampleDistinctResult() {
	_, client, end := run()
	defer end()

	result := insertOrders(client).Distinct(context.Background(), "customer", bson.D{})
	var customers []string
	check(result.Decode(&customers))
	fmt.Println(customers)
	// Output: [Ada Bob]
}
