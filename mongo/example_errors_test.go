package mongo_test

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/retry"
)

// A switch finds the error of a write by its type, and the history has the attempts.
func ExampleWriteException() {
	_, client, end := run()
	defer end()
	_, err := insertOrders(client).InsertOne(context.Background(), order{ID: 1})

	switch e := err.(type) { //nolint:errorlint // the type does not depend on the number of attempts
	case mongo.WriteException:
		fmt.Println("refused with the codes", e.ErrorCodes())
	default:
		fmt.Println(err)
	}
	var history *retry.Error
	if errors.As(err, &history) {
		fmt.Println(history.Total, "attempt; the outcome is known:", history.OutcomeKnown())
	}
	// Output:
	// refused with the codes [11000]
	// 1 attempt; the outcome is known: true
}

// The errors of InsertMany have the indexes of the documents.
func ExampleBulkWriteException() {
	_, client, end := run()
	defer end()
	_, err := insertOrders(client).InsertMany(context.Background(), []order{{ID: 4}, {ID: 1}, {ID: 5}})

	var refused mongo.BulkWriteException
	if errors.As(err, &refused) {
		for _, e := range refused.WriteErrors {
			fmt.Println("document", e.Index, "has the code", e.Code)
		}
	}
	// Output: document 1 has the code 11000
}

// The errors of Client.BulkWrite have the indexes of the writes, and the result counts those that were made.
func ExampleClientBulkWriteException() {
	_, client, end := run(mongotest.Version("8.0"))
	defer end()
	insertOrders(client)
	insert := func(id int) mongo.ClientBulkWrite {
		return mongo.ClientBulkWrite{
			Database: "app", Collection: "orders", Model: mongo.NewClientInsertOneModel().SetDocument(bson.D{{Key: "_id", Value: id}}),
		}
	}
	_, err := client.BulkWrite(context.Background(), []mongo.ClientBulkWrite{insert(4), insert(1)})

	var refused mongo.ClientBulkWriteException
	if errors.As(err, &refused) {
		for index, e := range refused.WriteErrors {
			fmt.Println("write", index, "has the code", e.Code)
		}
		fmt.Println(refused.PartialResult.InsertedCount, "was inserted")
	}
	// Output:
	// write 1 has the code 11000
	// 1 was inserted
}
