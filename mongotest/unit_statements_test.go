package mongotest_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

// numbered returns as many documents as [manyDocuments] says, with _ids from a number on.
func numbered(from int) []any {
	docs := make([]any, manyDocuments)
	for i := range docs {
		docs[i] = bson.D{{Key: "_id", Value: from + i}, {Key: "n", Value: 0}}
	}
	return docs
}

// insertMany inserts as many documents, and returns how many were not inserted because their _ids were taken.
func insertMany(ctx context.Context, c *mongo.Collection, from int, ordered bool) (refused int64, err error) {
	_, err = c.InsertMany(ctx, numbered(from), options.InsertMany().SetOrdered(ordered))
	var refusal mongo.BulkWriteException
	if errors.As(err, &refusal) && refusal.HasErrorCode(11000) {
		return int64(len(refusal.WriteErrors)), nil
	}
	return 0, err
}

// Others are answered between two statements of one command, and see which are done.
func TestTheStatementsOfACommandAreUnits(t *testing.T) {
	client := connect(t, mongotest.RunReplicaSetT(t, 1))
	for name, run := range map[string]func(c *mongo.Collection) error{
		"insert": func(c *mongo.Collection) error {
			_, err := insertMany(t.Context(), c, 0, true)
			return err
		},
		"update": func(c *mongo.Collection) error {
			models := make([]mongo.WriteModel, manyDocuments)
			for i := range models {
				models[i] = mongo.NewUpdateOneModel().SetFilter(bson.D{{Key: "_id", Value: i}}).SetUpdate(increment).SetUpsert(true)
			}
			_, err := c.BulkWrite(t.Context(), models)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := client.Database("db").Collection(name)
			for seen := false; !seen; {
				if err := c.Drop(t.Context()); err != nil {
					t.Fatal(err)
				}
				ended := make(chan error, 1)
				go func() { ended <- run(c) }()
				seen = awaitSome(t, c, everyDocument, ended)
				if err := <-ended; err != nil {
					t.Fatal(err)
				}
				if n, err := c.CountDocuments(t.Context(), everyDocument); err != nil || n != manyDocuments {
					t.Fatalf("%d documents, %v", n, err)
				}
			}
		})
	}
}

// The journal has the statements that were executed: those behind an error only if the command is not ordered.
func TestTheJournalHasTheStatementsThatWereExecuted(t *testing.T) {
	for ordered, want := range map[bool][]int32{true: {0, 11000}, false: {0, 11000, 0}} {
		bubbleOf(t, 1, func(t *testing.T, rs *mongotest.Deployment) {
			dial(t, rs, 0).ok(`{"insert": "c", "documents": [{"_id": 1}, {"_id": 1}, {"_id": 2}], "ordered": %v, "$db": "test"}`, ordered)
			var codes []int32
			for _, e := range rs.Journal() {
				codes = append(codes, e.ErrorCode)
				if e.Applied != (e.ErrorCode == 0) {
					t.Errorf("the journal says %s", e.String())
				}
			}
			if !slices.Equal(codes, want) {
				t.Errorf("ordered: %v, the journal has statements with the errors %v, want %v", ordered, codes, want)
			}
		})
	}
}

// Of two inserts of the same documents that run side by side, each document is inserted by one and refused by the other.
func TestInsertsOfTheSameDocumentsAreExact(t *testing.T) {
	const shared = manyDocuments / 2
	client := connect(t, mongotest.RunReplicaSetT(t, 3))
	for name, ordered := range map[string]bool{"ordered": true, "unordered": false} {
		c := client.Database("db").Collection(name)
		var wg sync.WaitGroup
		var refused atomic.Int64
		for i := range 2 {
			wg.Go(func() {
				n, err := insertMany(t.Context(), c, i*shared, ordered)
				if err != nil {
					t.Error(err)
				}
				refused.Add(n)
			})
		}
		wg.Wait()
		n, err := c.CountDocuments(t.Context(), everyDocument)
		switch {
		case err != nil:
			t.Error(err)
		case !ordered && (refused.Load() != shared || n != manyDocuments+shared):
			t.Errorf("unordered: %d documents, %d were refused", n, refused.Load())
		case ordered && (refused.Load() < 1 || refused.Load() > 2 || n > manyDocuments+shared):
			t.Errorf("ordered: %d documents, %d were refused", n, refused.Load())
		}
	}
}

// An insert whose collection is dropped in the middle makes it again for the documents that are left.
func TestAnInsertMakesItsCollectionAgain(t *testing.T) {
	client := connect(t, mongotest.RunReplicaSetT(t, 1))
	c := client.Database("db").Collection("c")
	for seen := false; !seen; {
		if err := c.Drop(t.Context()); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() {
			_, err := insertMany(t.Context(), c, 0, true)
			ended <- err
		}()
		part := awaitSome(t, c, everyDocument, ended)
		if err := c.Drop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		n, err := c.CountDocuments(t.Context(), everyDocument)
		if err != nil {
			t.Fatal(err)
		}
		last, err := c.CountDocuments(t.Context(), bson.D{{Key: "_id", Value: manyDocuments - 1}})
		if err != nil || n > 0 && last != 1 || n == manyDocuments {
			t.Fatalf("%d documents, the last one is there %d times; %v", n, last, err)
		}
		seen = part && n > 0
	}
}

// A stream of changes tells of the inserts of two clients in the order of the log, those of each client in its order.
func TestAChangeStreamBesideInsertsThatYield(t *testing.T) {
	client := connect(t, mongotest.RunReplicaSetT(t, 1))
	c := client.Database("db").Collection("c")
	stream, err := c.Watch(t.Context(), mongo.Pipeline{}, options.ChangeStream().SetBatchSize(1000))
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close(context.Background())
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() {
			if _, err := insertMany(t.Context(), c, i*manyDocuments, true); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	var before bson.Timestamp
	next := []int{0, manyDocuments}
	for range 2 * manyDocuments {
		if !stream.Next(t.Context()) {
			t.Fatal(stream.Err())
		}
		var event struct {
			ClusterTime bson.Timestamp
			DocumentKey struct {
				ID int `bson:"_id"`
			}
		}
		if err := stream.Decode(&event); err != nil {
			t.Fatal(err)
		}
		id := event.DocumentKey.ID
		if whose := id / manyDocuments; id != next[whose] || !event.ClusterTime.After(before) {
			t.Fatalf("document %d at %v, want %d after %v", id, event.ClusterTime, next[whose], before)
		}
		next[id/manyDocuments]++
		before = event.ClusterTime
	}
}
