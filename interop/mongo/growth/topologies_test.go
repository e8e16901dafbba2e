package growth

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongo"
)

// fewest is the number of members of the smallest topology.
const fewest = 3

func memberCounts() []int {
	if whole() {
		return []int{fewest, 50, 200, 1_000}
	}
	return []int{fewest, 50}
}

// topologies has the series of mongoses and of replica sets. All clients are connected all the time. A hello changes the
// topology, whose description is immutable: it is copied, so that a hello costs more for each server. That is what is compared,
// without the cost of a hello in the smallest topology.
func topologies(t *testing.T, w *world) []series {
	var all []series
	many := memberCounts()[1:]
	if whole() {
		many = many[1:] // what 50 servers add to a hello is lost in what it costs
	}
	for _, set := range []bool{false, true} {
		name := map[bool]string{false: "among mongoses", true: "in a replica set"}[set]
		clients := make(map[int]*mongo.Client)
		for _, n := range memberCounts() {
			clients[n] = w.connectAll(t, topology{n, set})
		}
		all = append(all,
			series{"FindOne " + name, operated(set), 0, func(t *testing.T, n int) float64 { return findOnes(t, clients[n]) }},
			series{"hello " + name + ", a server more", many, fewest, func(t *testing.T, n int) float64 {
				return w.hello(t, topology{n, set})
			}})
	}
	return all
}

// operated returns the sizes of the topologies in which an operation is measured. MongoDB permits at most 50 members of a replica set; in one of
// 1,000 the search for the primary among them would show.
func operated(set bool) []int {
	counts := memberCounts()
	if set && whole() {
		counts = counts[:len(counts)-1]
	}
	return counts
}

// connectAll is connect for a topology of several members: it waits until all are known.
func (w *world) connectAll(t *testing.T, of topology) *mongo.Client {
	t.Helper()
	c := w.connect(t, of)
	if err := w.stream(t, of, 1); err != nil {
		t.Fatal(err)
	}
	return c
}

// stream lets the near member stream n hellos once all are known, and waits until the client has processed them.
func (w *world) stream(t *testing.T, of topology, n int) error {
	t.Helper()
	_, err := fmt.Fprintf(w.server.In, "hellos %d %t %d\n", of.members, of.set, n)
	if err == nil {
		w.server.Line(t)
	}
	return err
}

// workers do the FindOnes. One alone leaves the processors idle while it waits, and to wake one costs as much as an operation or nothing, as it comes.
const workers = 32

func findOnes(t *testing.T, c *mongo.Client) float64 {
	n := 1_000
	if whole() {
		n = 10_000
	}
	coll := c.Database(database).Collection(single)
	each := n / workers
	return cpuOfEach(t, each*workers, func() error {
		errs := make(chan error, workers)
		var running sync.WaitGroup
		for range workers {
			running.Go(func() {
				for range each {
					if err := coll.FindOne(context.Background(), bson.D{}).Err(); err != nil {
						errs <- err
						return
					}
				}
			})
		}
		running.Wait()
		close(errs)
		return <-errs
	})
}

// hello returns the cost of a hello of the near member's stream.
func (w *world) hello(t *testing.T, of topology) float64 {
	n := 2_000
	if whole() {
		n = 5_000_000 / (50 + of.members)
	}
	return cpuOfEach(t, n, func() error { return w.stream(t, of, n) })
}
