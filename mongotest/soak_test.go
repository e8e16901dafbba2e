package mongotest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/base/openloop"
	"github.com/holdfast-db/holdfast/mongotest"
)

var soak = flag.Duration("soak", 0, "how long the soak runs; 0: it does not run")

const (
	soakClients  = 50
	soakPace     = 250 * time.Millisecond // between two operations of a client: the machine is to be busy, not the measure
	soakDocument = 256 << 10
	soakOplog    = 64                     // MiB
	soakGrowth   = 64                     // MiB by which the heap may be larger at the end than in the middle
	soakRetained = 512                    // MiB of the heap that may be kept at the end
	soakPings    = 20 * time.Millisecond  // between two pings
	soakPing     = 100 * time.Millisecond // that a ping may take while none of the floor is under way
	soakBar      = 99.9                   // percent of the pings that take no longer
	soakShare    = 20                     // of the operations of the busiest client, each client makes one in so many at least
)

// soakStep is one operation of a client, with a number that counts the client's operations.
type soakStep func(ctx context.Context, c *mongo.Collection, client, i int) error

var soakSteps = []soakStep{
	func(ctx context.Context, c *mongo.Collection, client, i int) error {
		doc := bson.D{{Key: "client", Value: client}, {Key: "n", Value: i}, {Key: "text", Value: strings.Repeat("x", soakDocument)}}
		_, err := c.ReplaceOne(ctx, bson.D{{Key: "_id", Value: client*10 + i%10}}, doc, options.Replace().SetUpsert(true))
		return err
	},
	func(ctx context.Context, c *mongo.Collection, client, _ int) error {
		cursor, err := c.Find(ctx, bson.D{{Key: "client", Value: client}}, options.Find().SetBatchSize(2))
		if err != nil {
			return err
		}
		for range 3 {
			cursor.Next(ctx)
		}
		return errors.Join(cursor.Err(), cursor.Close(ctx)) // with documents that it has not read
	},
	func(ctx context.Context, c *mongo.Collection, client, i int) error {
		_, err := c.UpdateMany(ctx, bson.D{{Key: "client", Value: client}},
			bson.A{bson.D{{Key: "$set", Value: bson.D{{Key: "size", Value: bson.D{{Key: "$strLenCP", Value: "$text"}}}, {Key: "i", Value: i}}}}})
		return err
	},
	func(ctx context.Context, c *mongo.Collection, _, _ int) error {
		cursor, err := c.Aggregate(ctx, bson.A{bson.D{{Key: "$group", Value: bson.D{
			{Key: "_id", Value: "$client"},
			{Key: "n", Value: bson.D{{Key: "$sum", Value: bson.D{{Key: "$strLenBytes", Value: "$text"}}}}},
		}}}})
		if err != nil {
			return err
		}
		return cursor.Close(ctx)
	},
	func(ctx context.Context, c *mongo.Collection, client, i int) error {
		return c.Database().Client().UseSession(ctx, func(ctx context.Context) error {
			_, err := mongo.SessionFromContext(ctx).WithTransaction(ctx, func(ctx context.Context) (any, error) {
				_, err := c.UpdateOne(ctx, bson.D{{Key: "_id", Value: client * 10}}, bson.D{{Key: "$set", Value: bson.D{{Key: "t", Value: i}}}})
				return nil, err
			})
			return err
		})
	},
	func(ctx context.Context, c *mongo.Collection, client, i int) error {
		_, err := c.DeleteOne(ctx, bson.D{{Key: "_id", Value: client*10 + i%10}})
		return err
	},
}

// soaking is the counts of a soak.
type soaking struct {
	operations [soakClients]atomic.Int64
	slower     []time.Duration // how long each ping took while none of the floor was under way
}

// run lets all clients work for some time, and pings the server and the floor meanwhile.
func (s *soaking) run(t *testing.T, clients []*mongo.Client, pinging, floor *mongo.Client, long time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	var all sync.WaitGroup
	for n, client := range clients {
		all.Go(func() {
			c, pace := client.Database("db").Collection("c"), time.NewTicker(soakPace)
			defer pace.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-pace.C:
				}
				i := int(s.operations[n].Add(1))
				if err := soakSteps[(n+i)%len(soakSteps)](t.Context(), c, n, i); err != nil {
					t.Errorf("client %d: %v", n, err)
					return
				}
			}
		})
	}
	ping := func(client *mongo.Client, more func(int) bool) []openloop.Call {
		calls, err := openloop.Calls(soakPings, more, func() error { return client.Ping(t.Context(), nil) })
		if err != nil {
			t.Error(err)
		}
		return calls
	}
	var ended atomic.Bool
	var least []openloop.Call
	all.Go(func() { least = ping(floor, func(int) bool { return !ended.Load() }) })
	pings := ping(pinging, func(int) bool { return ctx.Err() == nil })
	ended.Store(true)
	all.Wait()
	s.slower = append(s.slower, slower(pings, least)...)
}

// heapMiB returns how many MiB are in use after a garbage collection.
func heapMiB() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc >> 20)
}

// Many clients work for long with large documents. The server keeps no more at the end than in the middle, answers everybody, and is there for
// others. The machine may do something else meanwhile: what that delays, it delays at the floor too, which pings a server that does nothing.
func TestSoak(t *testing.T) {
	if *soak == 0 {
		t.Skip("no duration is given")
	}
	rs := mongotest.RunReplicaSetT(t, 3, mongotest.OplogSize(soakOplog))
	clients := make([]*mongo.Client, soakClients)
	for i := range clients {
		clients[i] = connect(t, rs)
	}
	pinging, floor, s := connect(t, rs), soakFloor(t), new(soaking)
	s.run(t, clients, pinging, floor, *soak/2)
	middle := heapMiB()
	s.run(t, clients, pinging, floor, *soak/2)
	end := heapMiB()
	inTime := 0
	for _, by := range s.slower {
		if by <= soakPing {
			inTime++
		}
	}
	percent := 100 * float64(inTime) / float64(len(s.slower))
	fmt.Printf("%d operations, %d pings; %d MiB in the middle, %d at the end\n", s.everybodyWorked(t), len(s.slower), middle, end)
	fmt.Printf("figure mock-soak-growth-mib %d\n", max(0, end-middle))
	fmt.Printf("figure mock-soak-pings-percent %.2f\n", percent)
	if end > middle+soakGrowth || end > soakRetained {
		t.Errorf("%d MiB are retained in the middle and %d at the end", middle, end)
	}
	if percent < soakBar {
		t.Errorf("%.2f %% of the pings take at most %v while a server that does nothing answers at once, want %v %%", percent, soakPing, soakBar)
	}
}

// everybodyWorked checks that no client was left behind, and returns the number of all operations.
func (s *soaking) everybodyWorked(t *testing.T) (total int64) {
	t.Helper()
	most := int64(0)
	for n := range s.operations {
		most = max(most, s.operations[n].Load())
	}
	for n := range s.operations {
		did := s.operations[n].Load()
		if total += did; did*soakShare < most {
			t.Errorf("client %d did only %d operations, another one %d", n, did, most)
		}
	}
	return total
}
