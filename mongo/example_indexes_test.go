package mongo_test

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// A unique index refuses a second user with the same address.
func ExampleIndexView() {
	_, client, end := run()
	defer end()
	ctx := context.Background()
	users := client.Database("app").Collection("users")

	name, err := users.Indexes().CreateOne(ctx, mongo.IndexModel{
		Keys: bson.D{{Key: "email", Value: 1}}, Options: options.Index().SetUnique(true),
	})
	check(err)
	fmt.Println("created", name)
	for range 2 {
		_, err = users.InsertOne(ctx, bson.D{{Key: "email", Value: "ada@example.com"}})
		fmt.Println("duplicate:", mongo.IsDuplicateKeyError(err))
	}
	indexes, err := users.Indexes().ListSpecifications(ctx)
	check(err)
	for _, index := range indexes {
		fmt.Println(index.Name, index.KeysDocument)
	}
	// Output:
	// created email_1
	// duplicate: false
	// duplicate: true
	// _id_ {"_id": {"$numberInt":"1"}}
	// email_1 {"email": {"$numberInt":"1"}}
}

// Only Atlas has search indexes. In a test, middleware gives its answers.
func ExampleSearchIndexView() {
	set, client, end := run()
	defer end()
	set.Use("createSearchIndexes", func(*mongotest.Request, mongotest.Handler) *mongotest.Reply {
		return mongotest.NewReply(bson.D{{Key: "indexesCreated", Value: bson.A{bson.D{{Key: "name", Value: "titles"}}}}})
	})

	name, err := client.Database("app").Collection("books").SearchIndexes().CreateOne(context.Background(), mongo.SearchIndexModel{
		Definition: bson.D{{Key: "mappings", Value: bson.D{{Key: "dynamic", Value: true}}}},
		Options:    options.SearchIndexes().SetName("titles"),
	})
	fmt.Println(name, err)
	// Output: titles <nil>
}
