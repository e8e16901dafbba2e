package once

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	official "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongo/once"
)

const (
	database = "holdfast_once"
	ours     = "ours"
	theirs   = "official"
)

// job is the environment variable that makes this test binary the program that is killed: "client collection document first count URI".
const job = "HOLDFAST_ONCE_JOB"

func TestMain(m *testing.M) {
	if text := os.Getenv(job); text != "" {
		if err := work(strings.SplitN(text, " ", 6)); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// open returns the collection of either client.
func open(client, uri, collection string) (*once.Collection, func(), error) {
	// A check that is requested in the middle of a stream may be lost by the official driver, which then waits for the next heartbeat.
	o := options.Client().ApplyURI(uri).SetServerSelectionTimeout(time.Minute).SetHeartbeatInterval(500 * time.Millisecond)
	if client == ours {
		c, err := mongo.Connect(o)
		if err != nil {
			return nil, nil, err
		}
		coll, err := once.New(c.Database(database).Collection(collection), once.Options{})
		return coll, func() { _ = c.Disconnect(context.Background()) }, err
	}
	c, err := official.Connect(o)
	if err != nil {
		return nil, nil, err
	}
	coll, err := once.New(c.Database(database).Collection(collection), once.Options{})
	return coll, func() { _ = c.Disconnect(context.Background()) }, err
}

// work is the program: it increments a counter, and a field of each operation, and prints what it was told.
func work(args []string) error {
	first, _ := strconv.Atoi(args[3])
	count, _ := strconv.Atoi(args[4])
	coll, end, err := open(args[0], args[5], args[1])
	if err != nil {
		return err
	}
	defer end()
	for i := first; i < first+count; i++ {
		update := bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}, {Key: field(i), Value: 1}}}}
		_, err := coll.UpdateOne(context.Background(), bson.D{{Key: "_id", Value: args[2]}}, update, options.UpdateOne().SetUpsert(true))
		if err != nil {
			return err
		}
		fmt.Println("done", i)
	}
	return nil
}

func field(operation int) string { return "o" + strconv.Itoa(operation) }
