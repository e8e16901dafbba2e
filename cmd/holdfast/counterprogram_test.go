package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
)

// counterProgram is the program that the tests of explore explore. It increments a counter; its argument says how.
func counterProgram() {
	way := os.Args[1]
	switch way {
	case "silent": // it sends nothing
		return
	case "hang": // it tells a test that it runs, and does so until it is killed
		if c, err := net.Dial("tcp", os.Args[2]); err == nil {
			_, _ = c.Read(make([]byte, 1))
		}
		return
	}
	do := count
	if os.Getenv("COUCHBASE_CONNSTR") != "" {
		do = countDocument
	}
	if err := do(way); err != nil {
		fmt.Println("counter:", err)
		os.Exit(1)
	}
}

// count does what the argument says: right, blind, or check.
func count(way string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	client, err := mongo.Connect(options.Client().ApplyURI(os.Getenv("MONGODB_URI")).SetRetryWrites(way != "blind"))
	if err != nil {
		return err
	}
	defer func() { _ = client.Disconnect(ctx) }()
	counters := client.Database("shop").Collection("counters")
	if way == "check" {
		n, err := counters.CountDocuments(ctx, bson.D{{Key: "n", Value: bson.D{{Key: "$gt", Value: 1}}}})
		if err != nil || n == 0 {
			return err
		}
		return errors.New("the counter was incremented twice, after exit code " + os.Getenv("HOLDFAST_EXIT_CODE"))
	}
	one := bson.D{{Key: "_id", Value: "c"}}
	increment := bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}}
	_, err = counters.UpdateOne(ctx, one, increment, options.UpdateOne().SetUpsert(true))
	if err != nil && way == "blind" {
		fmt.Println("counter: again after", err)
		_, err = counters.UpdateOne(ctx, one, increment, options.UpdateOne().SetUpsert(true))
	}
	return err
}
