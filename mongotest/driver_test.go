package mongotest_test

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

func TestOfficialDriverReadsAndWrites(t *testing.T) {
	both(t, func(t *testing.T, rs *mongotest.Deployment) {
		ctx, c := within(t), connect(t, rs).Database("test").Collection("c")
		must[*mongo.InsertOneResult](t)(c.InsertOne(ctx, j(`{"_id": 1, "n": 1}`)))
		_, err := c.InsertOne(ctx, j(`{"_id": {"$numberLong": "1"}}`))
		if !mongo.IsDuplicateKeyError(err) {
			t.Fatalf("inserting an _id twice: %v", err)
		}
		updated := must[*mongo.UpdateResult](t)(c.UpdateOne(ctx, j(`{"_id": 1}`), j(`{"$inc": {"n": 2}}`)))
		if updated.ModifiedCount != 1 {
			t.Errorf("modified %d documents, want 1", updated.ModifiedCount)
		}
		var doc struct{ N int }
		if err := c.FindOne(ctx, j(`{"_id": 1}`)).Decode(&doc); err != nil || doc.N != 3 {
			t.Errorf("found n = %d, %v, want 3", doc.N, err)
		}
		after := options.FindOneAndUpdate().SetReturnDocument(options.After)
		if err := c.FindOneAndUpdate(ctx, j(`{"n": 3}`), j(`{"$set": {"n": 9}}`), after).Decode(&doc); err != nil || doc.N != 9 {
			t.Errorf("found and updated to n = %d, %v, want 9", doc.N, err)
		}
		deleted := must[*mongo.DeleteResult](t)(c.DeleteOne(ctx, j(`{"n": {"$gt": 8}}`)))
		if n := must[int64](t)(c.CountDocuments(ctx, j(`{}`))); n != 0 || deleted.DeletedCount != 1 {
			t.Errorf("deleted %d, %d left", deleted.DeletedCount, n)
		}
		if err := c.FindOne(ctx, j(`{}`)).Err(); !errors.Is(err, mongo.ErrNoDocuments) {
			t.Errorf("found something in an empty collection: %v", err)
		}
	})
}

func TestCursorOverSeveralBatches(t *testing.T) {
	both(t, func(t *testing.T, rs *mongotest.Deployment) {
		ctx, c := within(t), connect(t, rs).Database("test").Collection("c")
		docs := make([]any, 1000)
		for i := range docs {
			docs[i] = j(`{"_id": %d}`, i)
		}
		must[*mongo.InsertManyResult](t)(c.InsertMany(ctx, docs))
		for _, size := range []int32{1, 7, 101, 2000} {
			opts := options.Find().SetBatchSize(size).SetSort(j(`{"_id": -1}`))
			cursor := must[*mongo.Cursor](t)(c.Find(ctx, j(`{}`), opts))
			var got []struct {
				ID int `bson:"_id"`
			}
			if err := cursor.All(ctx, &got); err != nil || len(got) != 1000 || got[0].ID != 999 {
				t.Errorf("batches of %d: %d documents, %v", size, len(got), err)
			}
		}
	})
}

func TestLostReplyOfRetryableWriteIsAppliedOnce(t *testing.T) {
	both(t, func(t *testing.T, rs *mongotest.Deployment) {
		ctx, c := within(t), connect(t, rs).Database("test").Collection("c")
		must[*mongo.InsertOneResult](t)(c.InsertOne(ctx, j(`{"_id": 1, "n": 0}`)))
		lost := 0
		rs.Use("update", mongotest.FaultOnce(mongotest.Fault{Before: func() { lost++ }, LoseReply: true, CutReplyAfter: 10}))
		must[*mongo.UpdateResult](t)(c.UpdateOne(ctx, j(`{"_id": 1}`), j(`{"$inc": {"n": 1}}`)))
		if err := rs.WaitIdle(ctx); err != nil {
			t.Fatal(err)
		}
		docs := rs.ReadAll("test.c")
		if len(docs) != 1 || docs[0].Lookup("n").AsInt64() != 1 || lost != 1 {
			t.Errorf("documents %v after %d lost replies, want n = 1 after one", docs, lost)
		}
		var seen []string
		for _, e := range rs.Journal() {
			if e.Command == "update" {
				seen = append(seen, e.String())
			}
		}
		if len(seen) != 2 {
			t.Errorf("the journal has %q, want two attempts", seen)
		}
		t.Log(seen)
	})
}

func TestFailoverInTheMiddle(t *testing.T) {
	both(t, func(t *testing.T, rs *mongotest.Deployment) {
		ctx, c := within(t), connect(t, rs).Database("test").Collection("c")
		must[*mongo.InsertOneResult](t)(c.InsertOne(ctx, j(`{"_id": 1, "n": 0}`)))
		rs.Use("update", mongotest.FaultOnce(mongotest.Fault{AfterApply: func() {
			if err := rs.StepDown(); err != nil {
				t.Error(err)
			}
		}}))
		must[*mongo.UpdateResult](t)(c.UpdateOne(ctx, j(`{"_id": 1}`), j(`{"$inc": {"n": 1}}`)))
		if n := rs.ReadAll("test.c")[0].Lookup("n").AsInt64(); n != 1 {
			t.Errorf("n = %d, want 1", n)
		}
		if rs.Primary() == 0 || rs.Term() != 2 {
			t.Errorf("primary %d, term %d, want another than 0 and 2", rs.Primary(), rs.Term())
		}
	})
}

func TestADriverReadsTheSetsNameFromTheURI(t *testing.T) {
	for _, name := range []string{"rs7", "a&w=1", "a b+c", "100%", "r/s?,:@#"} {
		for place, network := range map[string]mongotest.CommonOption{"tcp": mongotest.Listen(), "memory": mongotest.InMemory()} {
			client := connect(t, mongotest.RunReplicaSetT(t, 1, network, mongotest.SetName(name)))
			if _, err := client.Database("test").Collection("c").InsertOne(within(t), j(`{}`)); err != nil {
				t.Errorf("%q, %s: %v", name, place, err)
			}
			p := mongotest.RunBlackPipeT(t, network, mongotest.SetName(name))
			p.Expect("ping").Reply(bson.D{})
			piped := must[*mongo.Client](t)(mongo.Connect(options.Client().ApplyURI(p.URI()).SetDialer(p.Dialer())))
			if err := piped.Ping(within(t), nil); err != nil {
				t.Errorf("%q, a pipe, %s: %v", name, place, err)
			}
			must[any](t)(nil, piped.Disconnect(within(t)))
		}
	}
}
