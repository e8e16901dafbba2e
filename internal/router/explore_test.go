package router_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/explore"
	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/router"
)

// Every failure happens at every message behind the router of a client that never retries. It gets no error but those of
// which the application must know; what it was told is done is done once, and what failed is done once or not at all.
func TestExploreExactlyOnce(t *testing.T) {
	explore.Run(t, func(e *explore.Exploration) {
		network := memnet.New(memnet.Config{})
		r, err := router.New(router.Config{Upstream: options.Client().ApplyURI(e.URI()).SetDialer(e.Dialer())})
		if err != nil {
			e.Fatalf("%v", err)
		}
		defer r.Close()
		l, err := network.Listen(address)
		if err != nil {
			e.Fatalf("%v", err)
		}
		go r.Serve(l)
		client, err := mongo.Connect(neverRetries().ApplyURI("mongodb://" + address).SetDialer(network))
		if err != nil {
			e.Fatalf("%v", err)
		}
		defer client.Disconnect(context.Background())
		c := client.Database("app").Collection("counters")
		_, inserted := c.InsertOne(e.Context(), bson.D{{Key: "_id", Value: 1}, {Key: "n", Value: 0}})
		_, updated := c.UpdateOne(e.Context(), d("_id", 1), d("$inc", d("n", 1)))
		replaced := c.FindOneAndUpdate(e.Context(), d("_id", 1), d("$inc", d("n", 10))).Err()
		e.Logf("insert: %v; update: %v; findAndModify: %v", inserted, updated, replaced)
		for _, err := range []error{inserted, updated, replaced} {
			if !mayFail(err) {
				e.Errorf("the client got %v", err)
			}
		}
		e.Check(func() error { return audit(e, inserted, updated, replaced) })
	}, explore.InMemory())
}

// mayFail reports whether a client may get an error: the server refused the command for what is in it, or the write concern timed out. An
// update finds no document if the insert before it was refused.
func mayFail(err error) bool {
	var failed mongo.WriteException
	if errors.As(err, &failed) && failed.WriteConcernError != nil {
		return failed.WriteConcernError.Code == 64
	}
	return err == nil || codeOf(err) == 2 || errors.Is(err, mongo.ErrNoDocuments)
}

// audit compares what the client was told with the data.
func audit(e *explore.Exploration, inserted, updated, replaced error) error {
	client, err := mongo.Connect(options.Client().ApplyURI(e.URI()).SetDialer(e.Dialer()))
	if err != nil {
		return err
	}
	defer client.Disconnect(context.Background())
	var found struct{ N int }
	err = client.Database("app").Collection("counters").FindOne(context.Background(), d("_id", 1)).Decode(&found)
	if errors.Is(err, mongo.ErrNoDocuments) {
		if inserted == nil {
			return errors.New("the document that was inserted is not there")
		}
		return nil
	}
	if err != nil {
		return err
	}
	least, most := 0, 0
	for _, w := range []struct {
		err error
		by  int
	}{{updated, 1}, {replaced, 10}} {
		most += w.by
		if w.err == nil && inserted == nil {
			least += w.by
		}
	}
	if found.N < least || found.N > most {
		return fmt.Errorf("n is %d; it must be from %d to %d", found.N, least, most)
	}
	return nil
}
