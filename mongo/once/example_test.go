package once_test

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongo/mongotest"
	"github.com/holdfast-db/holdfast/mongo/once"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// The reply to each step of an increment is lost, on a server that cannot recognise a repeated command.
func Example() {
	ctx := context.Background()
	server, err := mongotest.RunStandalone()
	check(err)
	defer server.Close()
	client, err := mongo.Connect(options.Client().ApplyURI(server.URI()))
	check(err)
	defer client.Disconnect(ctx)
	plain := client.Database("shop").Collection("counters")

	counters, err := once.New(plain, once.Options{})
	check(err)
	server.Use("update", mongotest.Once(mongotest.Fault{LoseReply: true}))
	visits := bson.D{{Key: "_id", Value: "visits"}}
	increment := bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}}
	_, err = counters.UpdateOne(ctx, visits, increment, options.UpdateOne().SetUpsert(true))
	check(err)

	var counter struct{ N int }
	check(plain.FindOne(ctx, visits).Decode(&counter))
	fmt.Println("n:", counter.N)
	// Output: n: 1
}

// A program that starts again uses the id that it has noted before its first attempt.
func ExampleCollection_UpdateOneAs() {
	ctx := context.Background()
	server, err := mongotest.RunStandalone()
	check(err)
	defer server.Close()
	client, err := mongo.Connect(options.Client().ApplyURI(server.URI()))
	check(err)
	defer client.Disconnect(ctx)
	plain := client.Database("shop").Collection("counters")
	counters, err := once.New(plain, once.Options{})
	check(err)

	id := bson.NewObjectID() // noted in a file, or in the message that is processed
	visits := bson.D{{Key: "_id", Value: "visits"}}
	for range 3 {
		_, err = counters.UpdateOneAs(ctx, id, visits, bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}}, options.UpdateOne().SetUpsert(true))
		check(err)
	}
	var counter struct{ N int }
	check(plain.FindOne(ctx, visits).Decode(&counter))
	fmt.Println("n:", counter.N)
	// Output: n: 1
}

// The updates of programs that died are finished.
func ExampleCollection_Sweep() {
	ctx := context.Background()
	server, err := mongotest.RunStandalone()
	check(err)
	defer server.Close()
	client, err := mongo.Connect(options.Client().ApplyURI(server.URI()))
	check(err)
	defer client.Disconnect(ctx)
	plain := client.Database("shop").Collection("counters")
	counters, err := once.New(plain, once.Options{})
	check(err)
	_, err = plain.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: counters.SweepIndex(), Options: options.Index().SetSparse(true)})
	check(err)
	result, err := counters.Sweep(ctx, once.SweepOptions{OlderThan: 10 * time.Minute})
	check(err)
	fmt.Println("pending:", result.Tokens, "still pending:", result.Failures)
	// Output: pending: 0 still pending: 0
}
