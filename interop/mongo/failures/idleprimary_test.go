package failures

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/interop/internal/driver"
	"github.com/holdfast-db/holdfast/mongotest"
)

// TestAPrimaryDiesWhileThePoolIsIdle kills the primary of a set, whose election takes a second, after the pool was idle
// for two seconds: at ten moments between two heartbeats, and ten times just after one, when the next check is not allowed
// yet. From then on the application inserts a document every 50 ms. It counts the inserts that fail.
func TestAPrimaryDiesWhileThePoolIsIdle(t *testing.T) {
	counts := map[string]int{}
	for _, name := range driver.Names() {
		for i := range 20 {
			moment := 12*time.Second + time.Duration(i)*time.Second
			if i >= 10 {
				moment = 20600 * time.Millisecond
			}
			t.Run(fmt.Sprintf("a primary killed while the pool was idle/%s/%v after the start", name, moment), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					failed := insertAfterDeath(t, name, moment)
					counts[name] += len(failed)
					for _, err := range failed {
						t.Logf("returned: %v", err)
					}
				})
			})
		}
	}
	fmt.Printf("%-70s %-10d %d\n", "a primary killed while the pool was idle: inserts that failed",
		counts[driver.NameOfficial], counts[driver.NameOurs])
	fmt.Printf("figure official-idle-primary-killed-errors %d\n", counts[driver.NameOfficial])
	fmt.Printf("figure idle-primary-killed-errors %d\n", counts[driver.NameOurs])
	if counts[driver.NameOurs] > 0 {
		t.Errorf("%d inserts failed", counts[driver.NameOurs])
	}
}

func insertAfterDeath(t *testing.T, name string, after time.Duration) (failed []error) {
	set := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory(), mongotest.Latency(time.Millisecond, time.Millisecond),
		mongotest.ElectionTimeout(time.Second))
	client, err := driver.Connect(name, options.Client().ApplyURI(set.URI()).SetDialer(set.Dialer()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Disconnect(context.Background()) }()
	coll := client.Collection("test", "c")
	began := time.Now()
	if _, err := coll.InsertOne(t.Context(), bson.D{}); err != nil {
		t.Fatal(err)
	}
	wait(t, after-2*time.Second-time.Since(began))
	if _, err := coll.InsertOne(t.Context(), bson.D{}); err != nil {
		t.Fatal(err)
	}
	wait(t, 2*time.Second)
	set.Kill(set.Primary())
	for range 100 {
		if _, err := coll.InsertOne(t.Context(), bson.D{}); err != nil {
			failed = append(failed, err)
		}
		wait(t, 50*time.Millisecond)
	}
	return failed
}

// wait lets time pass on the fake clock.
func wait(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
	}
}
