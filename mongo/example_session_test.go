package mongo_test

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

// A transaction takes an item from the stock and inserts an order, or does nothing. It is done again after a transient error,
// here a lost connection.
func ExampleSession_WithTransaction() {
	set, client, end := run()
	defer end()
	ctx := context.Background()
	stock, orders := client.Database("app").Collection("stock"), client.Database("app").Collection("orders")
	_, err := stock.InsertOne(ctx, bson.D{{Key: "_id", Value: "cup"}, {Key: "n", Value: 1}})
	check(err)

	session, err := client.StartSession()
	check(err)
	defer session.EndSession(ctx)
	set.Use("insert", mongotest.FaultOnce(mongotest.Fault{LoseReply: true}))
	sold := errors.New("sold out")
	buy := func(ctx context.Context) (any, error) {
		result, err := stock.UpdateOne(ctx,
			bson.D{{Key: "_id", Value: "cup"}, {Key: "n", Value: bson.D{{Key: "$gt", Value: 0}}}},
			bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: -1}}}})
		if err != nil {
			return nil, err
		}
		if result.ModifiedCount == 0 {
			return nil, sold
		}
		return orders.InsertOne(ctx, bson.D{{Key: "item", Value: "cup"}})
	}
	for range 2 {
		_, err = session.WithTransaction(ctx, buy)
		n, countErr := orders.CountDocuments(ctx, bson.D{})
		check(countErr)
		fmt.Println(n, "order,", err)
	}
	// Output:
	// 1 order, <nil>
	// 1 order, sold out
}
