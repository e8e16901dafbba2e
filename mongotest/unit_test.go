package mongotest_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

// manyDocuments take much longer than a write keeps the set's mutex.
const manyDocuments = 5_000

var everyDocument = bson.D{}

func fill(t *testing.T, c *mongo.Collection) {
	t.Helper()
	if _, err := c.InsertMany(t.Context(), numbered(0)); err != nil {
		t.Fatal(err)
	}
}

// awaitSome waits until some but not all documents have a value, and reports false if the write ended before.
func awaitSome(t *testing.T, c *mongo.Collection, filter bson.D, ended <-chan error) bool {
	t.Helper()
	for {
		n, err := c.CountDocuments(t.Context(), filter)
		switch {
		case err != nil:
			t.Fatal(err)
		case n > 0 && n < manyDocuments:
			return true
		case len(ended) > 0:
			return false
		}
	}
}

// updating begins an update of all documents.
func updating(ctx context.Context, c *mongo.Collection, update any) <-chan error {
	ended := make(chan error, 1)
	go func() {
		_, err := c.UpdateMany(ctx, everyDocument, update)
		ended <- err
	}()
	return ended
}

// Updates of many documents, which give up the mutex between two of them, change each document once, also beside other writes.
func TestUpdatesOfManyDocumentsAreExact(t *testing.T) {
	const clients, rounds = 2, 3
	client := connect(t, mongotest.RunReplicaSetT(t, 1))
	c := client.Database("db").Collection("c")
	fill(t, c)
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for range rounds {
				if r, err := c.UpdateMany(t.Context(), everyDocument, increment); err != nil || r.MatchedCount != manyDocuments || r.ModifiedCount != manyDocuments {
					t.Errorf("%+v, %v", r, err)
				}
			}
		})
	}
	wg.Go(func() {
		for i := range 500 {
			if _, err := c.UpdateOne(t.Context(), bson.D{{Key: "_id", Value: i * 37 % manyDocuments}}, increment); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
	for n, want := range map[int]int64{clients * rounds: manyDocuments - 500, clients*rounds + 1: 500} {
		if got, err := c.CountDocuments(t.Context(), bson.D{{Key: "n", Value: n}}); err != nil || got != want {
			t.Errorf("%d documents have n = %d, want %d; %v", got, n, want, err)
		}
	}
}

// A document that no longer matches when its turn comes is left alone, and is not counted.
func TestAnUpdateOfManyDocumentsLooksAtEachAgain(t *testing.T) {
	client := connect(t, mongotest.RunReplicaSetT(t, 1))
	c := client.Database("db").Collection("c")
	for seen := false; !seen; {
		if err := c.Drop(t.Context()); err != nil {
			t.Fatal(err)
		}
		fill(t, c)
		var result *mongo.UpdateResult
		ended := make(chan error, 1)
		go func() {
			var err error
			result, err = c.UpdateMany(t.Context(), bson.D{{Key: "n", Value: 0}}, increment)
			ended <- err
		}()
		part := awaitSome(t, c, bson.D{{Key: "n", Value: 1}}, ended)
		last := bson.D{{Key: "_id", Value: manyDocuments - 1}}
		if _, err := c.UpdateOne(t.Context(), last, bson.D{{Key: "$set", Value: bson.D{{Key: "n", Value: 7}}}}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.DeleteOne(t.Context(), bson.D{{Key: "_id", Value: manyDocuments - 2}}); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		var doc struct{ N int }
		if err := c.FindOne(t.Context(), last).Decode(&doc); err != nil || doc.N != 7 {
			t.Fatalf("n is %d, want 7; %v", doc.N, err)
		}
		if seen = part && result.MatchedCount == manyDocuments-2; result.MatchedCount < manyDocuments-2 || result.MatchedCount != result.ModifiedCount {
			t.Fatalf("%+v", result)
		}
	}
}

// The error of an update of many documents whose collection is dropped is that of the statement, a step-down ends the command. What it has done stays.
func TestAnUpdateOfManyDocumentsEndsWithItsCollectionOrItsPrimary(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(rs *mongotest.Deployment, c *mongo.Collection) error
		code    int
	}{
		"drop":      {func(_ *mongotest.Deployment, c *mongo.Collection) error { return c.Drop(context.Background()) }, 175},
		"step-down": {func(rs *mongotest.Deployment, _ *mongo.Collection) error { rs.StepDown(); return nil }, 189},
	} {
		t.Run(name, func(t *testing.T) {
			for seen := false; !seen; {
				rs := mongotest.RunReplicaSetT(t, 3)
				coll := connect(t, rs).Database("db").Collection("c")
				fill(t, coll)
				ended := updating(t.Context(), coll, increment)
				part := awaitSome(t, coll, bson.D{{Key: "n", Value: 1}}, ended)
				if err := c.happens(rs, coll); err != nil {
					t.Fatal(err)
				}
				err := <-ended
				var refused mongo.ServerError
				if err != nil && !errors.As(err, &refused) {
					t.Fatal(err)
				}
				var statement mongo.WriteException
				if name == "drop" && err != nil && (!errors.As(err, &statement) || len(statement.WriteErrors) != 1) {
					t.Fatalf("%v, want an error of the statement", err)
				}
				seen = part && err != nil && refused.HasErrorCode(c.code) // else it ended before, or while it waited for the other members
			}
		})
	}
}

// An update of many documents waits for a transaction that has written one of them, and goes on from there.
func TestAnUpdateOfManyDocumentsWaitsForATransaction(t *testing.T) {
	client := connect(t, mongotest.RunReplicaSetT(t, 1))
	c := client.Database("db").Collection("c")
	fill(t, c)
	session, err := client.StartSession()
	if err != nil {
		t.Fatal(err)
	}
	defer session.EndSession(context.Background())
	if err := session.StartTransaction(); err != nil {
		t.Fatal(err)
	}
	ctx := mongo.NewSessionContext(t.Context(), session)
	last := bson.D{{Key: "_id", Value: manyDocuments - 1}}
	if _, err := c.UpdateOne(ctx, last, bson.D{{Key: "$set", Value: bson.D{{Key: "n", Value: 10}}}}); err != nil {
		t.Fatal(err)
	}
	ended := updating(t.Context(), c, increment)
	if !awaitSome(t, c, bson.D{{Key: "n", Value: 1}}, ended) {
		t.Fatal("the update did not wait")
	}
	if err := session.CommitTransaction(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]int64{1: manyDocuments - 1, 11: 1} {
		if got, err := c.CountDocuments(t.Context(), bson.D{{Key: "n", Value: n}}); err != nil || got != want {
			t.Errorf("%d documents have n = %d, want %d; %v", got, n, want, err)
		}
	}
}

// A delete of many documents leaves those that others insert meanwhile.
func TestADeleteOfManyDocumentsBesideInserts(t *testing.T) {
	client := connect(t, mongotest.RunReplicaSetT(t, 1))
	c := client.Database("db").Collection("c", options.Collection())
	fill(t, c)
	ended := make(chan error, 1)
	var deleted int64
	go func() {
		r, err := c.DeleteMany(t.Context(), bson.D{{Key: "n", Value: 0}})
		if err == nil {
			deleted = r.DeletedCount
		}
		ended <- err
	}()
	inserted := 0
	for ; len(ended) == 0; inserted++ {
		if _, err := c.InsertOne(t.Context(), bson.D{{Key: "n", Value: -1}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-ended; err != nil || deleted != manyDocuments {
		t.Errorf("%d deleted, %v", deleted, err)
	}
	if n, err := c.CountDocuments(t.Context(), everyDocument); err != nil || n != int64(inserted) {
		t.Errorf("%d documents are left, want the %d that were inserted; %v", n, inserted, err)
	}
}
