// Command faultproxy loses the reply of every second insert in front of a MongoDB server, and shows what a client makes of it:
//
//	go run ./examples/faultproxy -uri mongodb://localhost:27017/
//
// Without -uri it runs a replica set of its own. It drops the collection holdfast_example.faultproxy, and fills it again.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

func main() {
	uri := flag.String("uri", "", "the connection `string` of a server without TLS; none: one inside this program")
	flag.Parse()
	if err := run(context.Background(), *uri); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, uri string) error {
	if uri == "" {
		rs, err := mongotest.RunReplicaSet(1)
		if err != nil {
			return err
		}
		defer rs.Close()
		uri = rs.URI()
	}
	proxy, err := mongotest.RunProxy(uri)
	if err != nil {
		return err
	}
	defer proxy.Close()
	var inserts atomic.Int64
	proxy.Use("insert", mongotest.Decide(func(*mongotest.Request) mongotest.Fault {
		return mongotest.Fault{LoseReply: inserts.Add(1)%2 == 1}
	}))
	client, err := mongo.Connect(options.Client().ApplyURI(proxy.URI()))
	if err != nil {
		return err
	}
	defer func() { _ = client.Disconnect(ctx) }()
	documents := client.Database("holdfast_example").Collection("faultproxy")
	if err := documents.Drop(ctx); err != nil {
		return err
	}
	for n := range 5 {
		if _, err := documents.InsertOne(ctx, bson.D{{Key: "n", Value: n}}); err != nil {
			return err
		}
	}
	count, err := documents.CountDocuments(ctx, bson.D{})
	if err != nil {
		return err
	}
	fmt.Printf("%d inserts were sent %d times, and there are %d documents\n", 5, inserts.Load(), count)
	return nil
}
