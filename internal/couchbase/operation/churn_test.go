package operation_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/couchbase/cluster"
	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/internal/couchbase/nodescript"
	"github.com/holdfast-db/holdfast/internal/couchbase/operation"
)

// churn is a cluster whose vbuckets move all the time, and whose nodes come and go.
type churn struct {
	*nodescript.Cluster
	random *rand.Rand // of the test's goroutine
	nodes  []*nodescript.Node

	mu       sync.Mutex
	answers  *rand.Rand
	revision int64
	owners   []string // of each vbucket
	hosts    []string
}

const churnVBuckets = 16

// answer is the script of a node: it owns its vbuckets, and refuses the others with the newest map, with an older one or with none.
func (c *churn) answer(host string, r memd.Packet) (answer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if int(r.VBucket) < len(c.owners) && c.owners[r.VBucket] == host {
		return answer{Value: []byte(host)}, true
	}
	a := answer{Status: memd.StatusNotMyVBucket}
	if c.answers.IntN(2) == 0 {
		a.Value = c.mapOf(c.revision).JSON()
	}
	return a, true
}

// mapOf returns the current map with a revision. mu is held.
func (c *churn) mapOf(revision int64) nodescript.Map {
	m := nodescript.Map{Revision: revision, Bucket: "bucket", Hosts: slices.Clone(c.hosts)}
	for _, owner := range c.owners {
		m.VBuckets = append(m.VBuckets, []int{slices.Index(c.hosts, owner)})
	}
	return m
}

// change moves some vbuckets; sometimes a node joins or leaves.
func (c *churn) change() {
	c.mu.Lock()
	c.revision++
	if c.random.IntN(4) == 0 {
		c.hosts = nil
		for _, i := range c.random.Perm(len(c.nodes))[:2+c.random.IntN(len(c.nodes)-1)] {
			c.hosts = append(c.hosts, c.nodes[i].Host)
		}
	}
	for vb, owner := range c.owners {
		if c.random.IntN(4) == 0 || !slices.Contains(c.hosts, owner) {
			c.owners[vb] = c.hosts[c.random.IntN(len(c.hosts))]
		}
	}
	c.SetMap(c.mapOf(c.revision))
	c.mu.Unlock()
	for _, n := range c.nodes {
		if c.random.IntN(3) > 0 {
			n.Push(c.random.IntN(2) == 0)
		}
	}
}

// Operations run while the map changes all the time: none of those that may be repeated fails, and at the end the client has the
// newest map, and connections to its nodes only.
func TestManyMapsWhileOperationsRun(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testChurn(t, seed) })
		})
	}
}

func testChurn(t *testing.T, seed uint64) {
	c := &churn{
		Cluster: nodescript.New(memnet.Config{MinLatency: ms / 5, MaxLatency: 2 * ms, Seed: seed}),
		random:  rand.New(rand.NewPCG(seed, 1)), answers: rand.New(rand.NewPCG(seed, 2)),
	}
	config := cluster.Config{KV: kv.Config{Dial: c.DialContext, Features: nodescript.Features, Timeout: time.Second}}
	for i := range 4 {
		n := &nodescript.Node{Host: fmt.Sprint("n", i)}
		n.Script = func(r memd.Packet) (memd.Packet, bool) { return c.answer(n.Host, r) }
		c.nodes = append(c.nodes, c.Start(n))
		c.hosts = append(c.hosts, n.Host)
		config.Seeds = append(config.Seeds, n.Address())
	}
	for range churnVBuckets {
		c.owners = append(c.owners, c.hosts[0])
	}
	c.change()
	client, err := cluster.Open(config)
	if err != nil {
		t.Fatal(err)
	}
	bucket := client.Bucket("bucket")
	runner, err := operation.NewRunner(operation.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var stop atomic.Bool
	var workers sync.WaitGroup
	done := new(atomic.Int64)
	for worker := range 16 {
		workers.Go(func() {
			for i := 0; !stop.Load(); i++ {
				var r operation.Result
				q := operation.Operation{
					Name: "get", Opcode: memd.OpGet, Idempotency: operation.IdempotencyOf(memd.OpGet), Key: fmt.Appendf(nil, "%d %d", worker, i),
					Collection: bucket.Collection(cluster.DefaultName, cluster.DefaultName),
				}
				if err := runner.Run(context.Background(), 2500*ms, &q, &r); err != nil {
					t.Errorf("%v", err)
					return
				}
				done.Add(1)
			}
		})
	}
	for range 100 {
		<-time.After(time.Duration(c.random.IntN(20)) * ms)
		c.change()
	}
	<-time.After(3 * time.Second) // the poll
	stop.Store(true)
	workers.Wait()
	c.check(t, bucket)
	if done.Load() < 3000 {
		t.Errorf("only %d operations", done.Load())
	}
	client.Close()
	synctest.Wait()
	for _, n := range c.nodes {
		if n.Conns() != 0 {
			t.Errorf("%d connections to %s after Close", n.Conns(), n.Host)
		}
		n.Stop()
	}
	synctest.Wait()
}

func (c *churn) check(t *testing.T, bucket *cluster.Bucket) {
	t.Helper()
	s := bucket.Snapshot()
	if s.Map.Version.Revision != c.revision {
		t.Errorf("the client has revision %d, the nodes %d", s.Map.Version.Revision, c.revision)
	}
	for _, n := range c.nodes {
		want := 0
		if slices.Contains(c.hosts, n.Host) {
			want = 1
		}
		if n.Conns() != want {
			t.Errorf("%d connections to %s, want %d", n.Conns(), n.Host, want)
		}
	}
}
