package mongotest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"

	"github.com/holdfast-db/holdfast/mongotest"
)

const accounts, fortune = 6, 100

// TestTransfersKeepTheSum moves money between accounts, with the official driver's transactions, while primaries die and
// step down: nobody ever sees money made or lost, and every transfer that was acknowledged is there.
func TestTransfersKeepTheSum(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		client := connect(t, rs)
		db := client.Database("bank")
		docs := make([]any, accounts)
		for i := range docs {
			docs[i] = j(`{"_id": %d, "n": %d}`, i, fortune)
		}
		must[*mongo.InsertManyResult](t)(db.Collection("accounts").InsertMany(t.Context(), docs))
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Minute)
		defer stop()
		var movers, others sync.WaitGroup
		acknowledged := make(chan bson.ObjectID, 100_000)
		for i := range 4 {
			movers.Go(func() { transfers(ctx, t, client, rand.New(rand.NewPCG(1, uint64(i))), acknowledged) })
		}
		others.Go(func() { audits(ctx, t, db) })
		others.Go(func() { troubles(ctx, rs, rand.New(rand.NewPCG(2, 0))) })
		movers.Wait()
		stop()
		others.Wait()
		close(acknowledged)
		if rs.Term() < 4 {
			t.Errorf("there were only %d elections", rs.Term())
		}
		checkTransfers(t, rs, acknowledged)
	}, mongotest.Latency(time.Millisecond, 5*time.Millisecond))
}

// transfers moves money from one random account to another, with a note of each transfer.
func transfers(ctx context.Context, t *testing.T, client *mongo.Client, random *rand.Rand, acknowledged chan<- bson.ObjectID) {
	db := client.Database("bank")
	for range 60 {
		from, to, id := random.IntN(accounts), random.IntN(accounts), bson.NewObjectID()
		_, err := withSession(ctx, client, func(ctx context.Context) (any, error) {
			if _, err := db.Collection("accounts").UpdateOne(ctx, bson.M{"_id": from}, j(`{"$inc": {"n": -1}}`)); err != nil {
				return nil, err
			}
			if _, err := db.Collection("accounts").UpdateOne(ctx, bson.M{"_id": to}, j(`{"$inc": {"n": 1}}`)); err != nil {
				return nil, err
			}
			return db.Collection("transfers").InsertOne(ctx, bson.M{"_id": id, "from": from, "to": to})
		})
		if err != nil {
			t.Errorf("a transfer: %v", err)
			return
		}
		acknowledged <- id
		_ = sleepFor(ctx, time.Duration(random.IntN(500))*time.Millisecond)
	}
}

func withSession(ctx context.Context, client *mongo.Client, do func(context.Context) (any, error)) (any, error) {
	s, err := client.StartSession()
	if err != nil {
		return nil, err
	}
	defer s.EndSession(context.Background())
	return s.WithTransaction(ctx, do)
}

// audits adds the accounts up, in snapshots.
func audits(ctx context.Context, t *testing.T, db *mongo.Database) {
	c := db.Collection("accounts", options.Collection().SetReadConcern(readconcern.Snapshot()))
	for ctx.Err() == nil {
		sum, err := sumOf(ctx, c)
		if err == nil && sum != accounts*fortune {
			t.Errorf("a snapshot has %d, want %d", sum, accounts*fortune)
		}
		_ = sleepFor(ctx, 50*time.Millisecond)
	}
}

func sumOf(ctx context.Context, c *mongo.Collection) (int, error) {
	cursor, err := c.Find(ctx, bson.M{}, options.Find().SetBatchSize(2))
	if err != nil {
		return 0, err
	}
	var list []struct{ N int }
	if err := cursor.All(ctx, &list); err != nil {
		return 0, err
	}
	sum := 0
	for _, a := range list {
		sum += a.N
	}
	return sum, nil
}

// troubles lets primaries step down, die and come back.
func troubles(ctx context.Context, rs *mongotest.Deployment, random *rand.Rand) {
	for sleepFor(ctx, time.Duration(500+random.IntN(1500))*time.Millisecond) == nil {
		switch random.IntN(3) {
		case 0:
			_ = rs.StepDown()
		case 1:
			if p := rs.Primary(); p >= 0 {
				rs.Kill(p)
				_ = sleepFor(ctx, 12*time.Second)
				rs.Restart(p)
			}
		default:
			if p := rs.Primary(); p >= 0 {
				rs.Partition([]int{p})
				_ = sleepFor(ctx, 12*time.Second)
				rs.Heal()
			}
		}
	}
	rs.Heal()
	for i := range rs.Members() {
		rs.Restart(i)
	}
}

func sleepFor(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// checkTransfers compares the accounts with the transfers, and these with the acknowledged ones.
func checkTransfers(t *testing.T, rs *mongotest.Deployment, acknowledged <-chan bson.ObjectID) {
	t.Helper()
	must[int](t)(rs.WaitPrimary(t.Context()))
	must[any](t)(nil, rs.WaitIdle(t.Context()))
	want := make(map[int64]int64)
	for i := range int64(accounts) {
		want[i] = fortune
	}
	there := make(map[string]bool)
	for _, doc := range rs.ReadAll("bank.transfers") {
		want[number(doc, "from")]--
		want[number(doc, "to")]++
		there[fmt.Sprint(doc.Lookup("_id").ObjectID())] = true
	}
	for _, doc := range rs.ReadAll("bank.accounts") {
		if id := number(doc, "_id"); number(doc, "n") != want[id] {
			t.Errorf("account %d has %d, want %d", id, number(doc, "n"), want[id])
		}
	}
	n := 0
	for id := range acknowledged {
		if n++; !there[fmt.Sprint(id)] {
			t.Errorf("the transfer %v was acknowledged and is not there", id)
		}
	}
	if n != 240 || len(there) < n {
		t.Errorf("%d transfers were acknowledged, want 240; %d are there", n, len(there))
	}
}
