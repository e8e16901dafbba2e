package concurrency

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

const clients = 200

// TestALongMixedLoad lets many clients work for 30 s of real time, 3 s with -short, while primaries are killed and started again, and then until
// an insert is acknowledged. Afterwards every insert that a majority acknowledged is there, no document is locked, and no goroutine is left.
func TestALongMixedLoad(t *testing.T) {
	length := 30 * time.Second
	if testing.Short() {
		length = 3 * time.Second
	}
	before := runtime.NumGoroutine()
	rs, err := mongotest.RunReplicaSet(3, mongotest.InMemory(), mongotest.ElectionTimeout(300*time.Millisecond), mongotest.JournalLimit(0))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	l := &load{rs: rs, kept: make([][]bson.ObjectID, clients), inserted: make(chan struct{})}
	var group sync.WaitGroup
	for i := range clients {
		group.Go(func() { l.client(ctx, t, i) })
	}
	deadly, end := context.WithTimeout(ctx, length)
	defer end()
	deaths(deadly, rs, rand.New(rand.NewPCG(1, 1)))
	for i := range rs.Members() {
		rs.Restart(i)
	}
	<-l.inserted // a busy machine may need more time for the first one
	stop()
	group.Wait()
	l.check(t)
	if err := rs.Close(); err != nil {
		t.Error(err)
	}
	checkGoroutines(t, before)
	t.Logf("%d operations, %d failed, %d elections", l.done.Load(), l.failed.Load(), rs.Term())
}

// load is what the clients did.
type load struct {
	rs     *mongotest.Deployment
	done   atomic.Int64
	failed atomic.Int64
	kept   [][]bson.ObjectID // by client, what a majority acknowledged

	inserted chan struct{} // closed when the first insert is acknowledged
	first    sync.Once
}

// client works until the time is up.
func (l *load) client(ctx context.Context, t *testing.T, i int) {
	client, err := mongo.Connect(options.Client().ApplyURI(l.rs.URI()).SetDialer(l.rs.Dialer()).SetMaxPoolSize(2).
		SetHeartbeatInterval(time.Second))
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = client.Disconnect(context.Background()) }()
	random := rand.New(rand.NewPCG(7, uint64(i)))
	for ctx.Err() == nil {
		one, end := context.WithTimeout(ctx, 5*time.Second)
		if err := l.operation(one, client, i, random); err != nil && !errors.Is(err, mongo.ErrNoDocuments) {
			l.failed.Add(1)
		}
		end()
		l.done.Add(1)
	}
}

// operation is one of a mixture.
func (l *load) operation(ctx context.Context, client *mongo.Client, i int, random *rand.Rand) error {
	db := client.Database("db")
	shared, mine := db.Collection("shared"), db.Collection(fmt.Sprint("c", i%10))
	upsert := options.UpdateOne().SetUpsert(true)
	switch random.IntN(8) {
	case 0, 1:
		id := bson.NewObjectID()
		_, err := mine.InsertOne(ctx, bson.D{{Key: "_id", Value: id}, {Key: "client", Value: i}})
		if err == nil {
			l.kept[i] = append(l.kept[i], id)
			l.first.Do(func() { close(l.inserted) })
		}
		return err
	case 2:
		_, err := shared.UpdateOne(ctx, byID(random.IntN(50)), bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}}, upsert)
		return err
	case 3:
		return shared.FindOneAndDelete(ctx, byID(50+random.IntN(50))).Err()
	case 4:
		return l.leaveCursor(ctx, mine)
	case 5:
		_, err := shared.Aggregate(ctx, bson.A{bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: nil}, {Key: "n", Value: bson.D{{Key: "$sum", Value: "$n"}}}}}}})
		return err
	case 6:
		return l.transaction(ctx, client, random)
	default:
		return shared.FindOne(ctx, byID(random.IntN(50))).Err()
	}
}

// leaveCursor reads some batches and closes the cursor before its end, or does not close it at all.
func (l *load) leaveCursor(ctx context.Context, c *mongo.Collection) error {
	cursor, err := c.Find(ctx, bson.D{}, options.Find().SetBatchSize(3).SetLimit(10))
	if err != nil {
		return err
	}
	for range 5 {
		cursor.Next(ctx)
	}
	return cursor.Close(ctx)
}

// transaction changes two documents, and at times leaves it to the server to find out that nobody goes on.
func (l *load) transaction(ctx context.Context, client *mongo.Client, random *rand.Rand) error {
	session, err := client.StartSession()
	if err != nil {
		return err
	}
	if random.IntN(4) > 0 {
		defer session.EndSession(context.Background())
	}
	if err := session.StartTransaction(); err != nil {
		return err
	}
	within := mongo.NewSessionContext(ctx, session)
	c := client.Database("db").Collection("shared")
	for range 2 {
		if _, err := c.UpdateOne(within, byID(100+random.IntN(50)), set(random.IntN(100)), options.UpdateOne().SetUpsert(true)); err != nil {
			return err
		}
	}
	if random.IntN(4) == 0 {
		return nil
	}
	return session.CommitTransaction(within)
}

// check looks for the acknowledged writes, and writes to every document that a transaction may have locked.
func (l *load) check(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	if _, err := l.rs.WaitPrimary(ctx); err != nil {
		t.Fatal(err)
	}
	client, err := mongo.Connect(options.Client().ApplyURI(l.rs.URI()).SetDialer(l.rs.Dialer()).SetHeartbeatInterval(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Disconnect(context.Background()) }()
	if err := client.Database("admin").RunCommand(ctx, bson.D{{Key: "killAllSessions", Value: bson.A{}}}).Err(); err != nil {
		t.Error(err)
	}
	began := time.Now()
	for id := range 150 {
		if _, err := client.Database("db").Collection("shared").UpdateOne(ctx, byID(id), set(0), options.UpdateOne().SetUpsert(true)); err != nil {
			t.Errorf("document %d: %v", id, err)
		}
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("150 updates took %v: something was locked", took)
	}
	if err := l.rs.WaitIdle(ctx); err != nil {
		t.Error(err)
	}
	l.checkKept(t)
}

func (l *load) checkKept(t *testing.T) {
	t.Helper()
	there := make(map[bson.ObjectID]bool)
	for i := range 10 {
		for _, doc := range l.rs.ReadAll(fmt.Sprint("db.c", i)) {
			there[doc.Lookup("_id").ObjectID()] = true
		}
	}
	acknowledged := 0
	for i, ids := range l.kept {
		for _, id := range ids {
			if acknowledged++; !there[id] {
				t.Errorf("client %d: the insert of %v was acknowledged by a majority and is not there", i, id)
			}
		}
	}
	if acknowledged == 0 {
		t.Error("no insert was acknowledged")
	}
}

// checkGoroutines waits until there are as many goroutines as before.
func checkGoroutines(t *testing.T, before int) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Errorf("%d goroutines are left of %d:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
			return
		}
	}
}
