package simulation

import (
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/interop/internal/simlife"
)

// moveAll moves each vbucket twice while the workers work. No operation may fail because of that.
func (c *cast) moveAll() {
	var moved atomic.Bool
	var moving sync.WaitGroup
	moving.Go(func() {
		defer moved.Store(true)
		for range 2 {
			c.replaceAllNodes()
		}
	})
	c.work(func(w *worker) {
		w.moving = true
		for number := 0; !moved.Load(); number++ {
			r := w.Random(forMoves, uint64(w.id), uint64(number))
			k := chosen(r)
			w.operate(k, &operation{Rand: r, id: fmt.Sprintf("%d.m%d", w.id, number), number: number, epoch: r.IntN(w.Epochs()), kind: k.name})
			simlife.Pause(time.Duration(r.IntN(50)) * time.Millisecond)
		}
	})
	moving.Wait()
}

// replaceAllNodes moves all vbuckets to new nodes, and counts those that have another owner then.
func (c *cast) replaceAllNodes() {
	i := c.injector
	old := i.members()
	for range old {
		_, err := c.server.AddNode()
		i.must("AddNode", err)
	}
	r, err := c.server.StartRebalance(old...)
	i.must("StartRebalance", err)
	if err != nil {
		return
	}
	if n := r.Left(); n != c.vbuckets {
		c.history.violated("simulation", "%d of %d vbuckets move", n, c.vbuckets)
	}
	for r.Move() {
		simlife.Pause(5 * time.Millisecond)
	}
	r.Finish()
}

// probe checks that a client which knows the newest map does not go back to an older one, which one node still serves: then its requests
// would reach nodes that are not their owners.
func (c *cast) probe() {
	f := &planned{}
	held := c.injector.members()[0]
	c.server.HoldMaps(held)
	_, err := c.server.AddNode()
	c.injector.must("AddNode", err)
	c.injector.rebalance(f)
	const toLearn, forProbe = 10 * time.Second, 20 * time.Second
	simlife.Pause(toLearn)
	c.each(nil) // what has been silent is connected anew
	simlife.Pause(toLearn)
	var refused atomic.Int64
	remove := c.server.Use(couchbasetest.AnyOpcode, func(r *couchbasetest.Request, next couchbasetest.Handler) *couchbasetest.Reply {
		reply := next(r)
		if reply != nil && reply.Status == memd.StatusNotMyVBucket {
			refused.Add(1)
		}
		return reply
	})
	for begin := time.Now(); time.Since(begin) < forProbe; simlife.Pause(time.Second) {
		c.each(func(client int, doc string, err error) {
			c.history.violated("map", "client %d cannot read %s in a cluster that is whole: %v", client, doc, err)
		})
	}
	remove()
	if n := refused.Load(); n > 0 {
		c.history.violated("map", "%d requests went to a node that was not the owner, long after the newest map was there", n)
	}
	c.server.ReleaseMaps(held)
}

// each reads some documents with each client.
func (c *cast) each(failed func(client int, doc string, err error)) {
	for n, client := range c.clients {
		for i := range 20 {
			doc := "r" + strconv.Itoa(i*c.Hot()%(c.Epochs()*c.Hot()))
			_, err := client.collection(doc).Get(doc, &couchbase.GetOptions{Timeout: 10 * time.Second})
			if err != nil && failed != nil {
				failed(n, doc, err)
			}
		}
	}
}
