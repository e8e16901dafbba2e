package failover

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/interop/internal/driver"
	"github.com/holdfast-db/holdfast/mongotest"
)

// TestCancelledFinds makes ten slow finds a second for 6 s on a pool of ten, whose callers give up after 50 ms, beside fast inserts. It
// counts the connections that this costs, and the inserts, with both drivers on the fake clock.
func TestCancelledFinds(t *testing.T) {
	seen := make(map[string]load)
	for _, name := range driver.Names() {
		synctest.Test(t, func(t *testing.T) { seen[name] = cancelledFinds(t, name) })
		fmt.Printf("%s: %+v\n", name, seen[name])
	}
	ours, official := seen[driver.NameOurs], seen[driver.NameOfficial]
	fmt.Printf("figure cancelled-finds-handshakes %d\n", ours.Handshakes)
	fmt.Printf("figure official-cancelled-finds-handshakes %d\n", official.Handshakes)
	if ours.Handshakes > official.Handshakes {
		t.Errorf("%d handshakes, the official driver makes %d", ours.Handshakes, official.Handshakes)
	}
	if ours.Failed > 0 || ours.Inserts*10 < official.Inserts*9 {
		t.Errorf("ours: %+v, official: %+v", ours, official)
	}
}

// load is what a client has done.
type load struct{ Handshakes, Inserts, Failed int }

func cancelledFinds(t *testing.T, name string) (done load) {
	const length = 6 * time.Second
	set := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory(), mongotest.Latency(200*time.Microsecond, 200*time.Microsecond))
	o := options.Client().ApplyURI(set.URI()).SetDialer(set.Dialer()).SetMaxPoolSize(10)
	client, err := driver.Connect(name, o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Disconnect(context.Background()) }()
	c := client.Collection("failover", "c")
	if _, err := c.InsertOne(t.Context(), bson.D{}); err != nil {
		t.Fatal(err)
	}
	set.Use("find", mongotest.Always(mongotest.Fault{Delay: 5 * time.Second}))
	seen := &greetings{member: make(map[int][]greeting)}
	set.Use("hello", mongotest.Decide(seen.see))
	began := time.Now()
	var finds sync.WaitGroup
	for i := time.Duration(0); i < length; i += 100 * time.Millisecond {
		finds.Go(func() {
			pause(t.Context(), i)
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(50*time.Millisecond, cancel)
			_ = c.FindOne(ctx, bson.D{}, new(bson.D))
		})
	}
	for time.Since(began) < length {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		if _, err := c.InsertOne(ctx, bson.D{}); err != nil {
			done.Failed++
		}
		cancel()
		done.Inserts++
		pause(t.Context(), 5*time.Millisecond)
	}
	finds.Wait()
	seen.mu.Lock()
	defer seen.mu.Unlock()
	for _, g := range seen.member[0] {
		if g.handshake {
			done.Handshakes++
		}
	}
	return done
}
