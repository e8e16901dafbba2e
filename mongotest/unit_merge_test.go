package mongotest_test

import (
	"context"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/mongotest"
)

// mergeAll merges all documents of a collection into another one.
func mergeAll(ctx context.Context, from *mongo.Collection, how bson.D) error {
	cursor, err := from.Aggregate(ctx, bson.A{bson.D{{Key: "$merge", Value: how}}})
	if err != nil {
		return err
	}
	return cursor.Close(ctx)
}

// byPipeline adds 1 to n.
func byPipeline(into string) bson.D {
	return j(`{"into": "%s", "whenMatched": [{"$set": {"n": {"$add": ["$n", 1]}}}], "whenNotMatched": "fail"}`, into)
}

// A $merge changes each document once, also one that others change meanwhile. They are answered before it has ended.
func TestAMergeBesideWritersIsExact(t *testing.T) {
	client := connect(t, mongotest.RunReplicaSetT(t, 1))
	db := client.Database("db")
	s, c := db.Collection("s"), db.Collection("c")
	fill(t, s)
	for seen := false; !seen; {
		if err := c.Drop(t.Context()); err != nil {
			t.Fatal(err)
		}
		fill(t, c)
		merges := []<-chan error{mergingInto(t, s), mergingInto(t, s)}
		seen = awaitSome(t, c, j(`{"n": {"$gt": 0}}`), merges[0])
		writes := 0
		for ; len(merges[0]) == 0 || len(merges[1]) == 0; writes++ {
			if _, err := c.UpdateOne(t.Context(), bson.D{{Key: "_id", Value: writes * 37 % manyDocuments}}, increment); err != nil {
				t.Fatal(err)
			}
		}
		for _, ended := range merges {
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
		}
		cursor, err := c.Aggregate(t.Context(), bson.A{j(`{"$group": {"_id": null, "sum": {"$sum": "$n"}}}`)})
		if err != nil {
			t.Fatal(err)
		}
		var sums []struct{ Sum int }
		if err := cursor.All(t.Context(), &sums); err != nil || len(sums) != 1 || sums[0].Sum != 2*manyDocuments+writes {
			t.Fatalf("%v, want a sum of %d; %v", sums, 2*manyDocuments+writes, err)
		}
		seen = seen && writes > 0
	}
}

func mergingInto(t *testing.T, from *mongo.Collection) <-chan error {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- mergeAll(t.Context(), from, byPipeline("c")) }()
	return ended
}

// Of two merges that insert the same documents side by side, each document is inserted by one. The other one finds it.
func TestMergesOfTheSameDocumentsAreExact(t *testing.T) {
	client := connect(t, mongotest.RunReplicaSetT(t, 1))
	db := client.Database("db")
	s, c := db.Collection("s"), db.Collection("c")
	fill(t, s)
	for _, how := range []string{"replace", "merge", "keepExisting"} {
		if err := c.Drop(t.Context()); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 2)
		for range 2 {
			go func() { ended <- mergeAll(t.Context(), s, j(`{"into": "c", "whenMatched": "%s"}`, how)) }()
		}
		for range 2 {
			if err := <-ended; err != nil {
				t.Errorf("%s: %v", how, err)
			}
		}
		if n, err := c.CountDocuments(t.Context(), everyDocument); err != nil || n != manyDocuments {
			t.Errorf("%s: %d documents, %v", how, n, err)
		}
	}
}

// A $merge whose client is gone ends soon.
func TestAMergeEndsWithItsClient(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1)
	db := connect(t, rs).Database("db")
	fill(t, db.Collection("s"))
	c := db.Collection("c")
	for seen := false; !seen; {
		if err := c.Drop(t.Context()); err != nil {
			t.Fatal(err)
		}
		fill(t, c)
		ctx, cancel := context.WithCancel(t.Context())
		other := connect(t, rs).Database("db").Collection("s")
		ended := make(chan error, 1)
		go func() { ended <- mergeAll(ctx, other, byPipeline("c")) }()
		part := awaitSome(t, c, j(`{"n": 1}`), ended)
		cancel() // the driver closes the connection
		<-ended
		if err := rs.WaitIdle(t.Context()); err != nil {
			t.Fatal(err)
		}
		n, err := c.CountDocuments(t.Context(), j(`{"n": 1}`))
		if err != nil {
			t.Fatal(err)
		}
		seen = part && n < manyDocuments
	}
}
