package mongo_test

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// run runs a replica set of one member in memory and connects to it. end closes both.
func run(opts ...mongotest.Option) (set *mongotest.Deployment, client *mongo.Client, end func()) {
	set, err := mongotest.RunReplicaSet(1, append(opts, mongotest.InMemory())...)
	check(err)
	client, err = mongo.Connect(options.Client().ApplyURI(set.URI()).SetDialer(set.Dialer()))
	check(err)
	return set, client, func() {
		check(client.Disconnect(context.Background()))
		check(set.Close())
	}
}

// A change stream loses its connection, and continues after the last event. A token continues it in another process.
func ExampleChangeStream() {
	set, client, end := run()
	defer end()
	ctx := context.Background()
	orders := client.Database("app").Collection("orders")

	stream, err := orders.Watch(ctx, mongo.Pipeline{})
	check(err)
	for i := range 3 {
		_, err = orders.InsertOne(ctx, bson.D{{Key: "_id", Value: i}})
		check(err)
	}
	set.Use("getMore", mongotest.FaultOnce(mongotest.Fault{LoseReply: true}))
	show := func(stream *mongo.ChangeStream) {
		var event struct {
			Operation string `bson:"operationType"`
			Key       struct {
				ID int `bson:"_id"`
			} `bson:"documentKey"`
		}
		check(stream.Decode(&event))
		fmt.Println(event.Operation, event.Key.ID)
	}
	for range 2 {
		stream.Next(ctx)
		show(stream)
	}
	token := stream.ResumeToken() // a program stores it with its own data
	check(stream.Err())
	check(stream.Close(ctx))

	later, err := orders.Watch(ctx, mongo.Pipeline{}, options.ChangeStream().SetResumeAfter(token))
	check(err)
	defer later.Close(ctx)
	later.Next(ctx)
	show(later)
	// Output:
	// insert 0
	// insert 1
	// insert 2
}
