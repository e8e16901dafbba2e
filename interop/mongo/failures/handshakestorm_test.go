package failures

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/interop/internal/driver"
	"github.com/holdfast-db/holdfast/mongotest"
)

// TestDeadlinesShorterThanAHandshake runs ten callers for a minute of the fake clock. A round trip takes 20 ms, the dial and
// the handshake of a connection take more than the 25 ms that each operation has.
func TestDeadlinesShorterThanAHandshake(t *testing.T) {
	succeeded := map[string]int64{}
	for _, name := range driver.Names() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ok, connections := storm(t, name)
				succeeded[name] = ok
				t.Logf("%d operations succeeded, %d connections were made", ok, connections)
				if limit := int64(20); name == driver.NameOurs && connections > limit {
					t.Errorf("%d connections were made; ten callers need at most %d", connections, limit)
				}
			})
		})
	}
	fmt.Printf("figure official-handshake-storm-succeeded %d\n", succeeded[driver.NameOfficial])
	fmt.Printf("figure handshake-storm-succeeded %d\n", succeeded[driver.NameOurs])
	// A caller fails until the first connections stand; the order of the goroutines decides how often, for both drivers.
	if few := int64(100); succeeded[driver.NameOurs] < succeeded[driver.NameOfficial]-few {
		t.Errorf("at least %d more operations of the official driver succeeded", few)
	}
}

func storm(t *testing.T, name string) (succeeded, connections int64) {
	var ok, made atomic.Int64
	set := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory(), mongotest.Latency(10*time.Millisecond, 10*time.Millisecond))
	client, err := driver.Connect(name, options.Client().ApplyURI(set.URI()).SetDialer(set.Dialer()).SetPoolMonitor(&event.PoolMonitor{
		Event: func(e *event.PoolEvent) {
			if e.Type == event.ConnectionCreated {
				made.Add(1)
			}
		},
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Disconnect(context.Background()) }()
	coll := client.Collection("test", "c")
	began := time.Now()
	var callers sync.WaitGroup
	for range 10 {
		callers.Go(func() {
			for time.Since(began) < time.Minute {
				ctx, cancel := context.WithTimeout(t.Context(), 25*time.Millisecond)
				if _, err := coll.FindAll(ctx, bson.D{}, 1); err == nil {
					ok.Add(1)
				}
				cancel()
			}
		})
	}
	callers.Wait()
	return ok.Load(), made.Load()
}
