package cluster_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/couchbase/cluster"
	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/internal/couchbase/nodescript"
)

const ms = time.Millisecond

// two is the map of the bucket on the nodes a and b: vbuckets 0 and 1 on a, 2 and 3 on b, with replicas on the other one.
func two(revision int64) nodescript.Map {
	return nodescript.Map{
		Epoch: 1, Revision: revision, Bucket: "bucket", Hosts: []string{"a", "b"}, VBuckets: [][]int{{0, 1}, {0, 1}, {1, 0}, {1, 0}},
	}
}

// only is the map of the bucket on the node a.
func only(revision int64) nodescript.Map {
	return nodescript.Map{Epoch: 1, Revision: revision, Bucket: "bucket", Hosts: []string{"a"}, VBuckets: [][]int{{0}, {0}, {0}, {0}}}
}

// alone is the map of a cluster of the nodes, without a bucket.
func alone(hosts ...string) nodescript.Map {
	return nodescript.Map{Epoch: 1, Revision: 1, Hosts: hosts}
}

// rig is a cluster of scripted nodes, and the client's view of it.
type rig struct {
	*nodescript.Cluster
	t      *testing.T
	nodes  map[string]*nodescript.Node
	config cluster.Config
}

// newRig starts nodes. All their maps are those that are given.
func newRig(t *testing.T, hosts []string, maps ...nodescript.Map) *rig {
	t.Helper()
	r := &rig{Cluster: nodescript.New(memnet.Config{}), t: t, nodes: make(map[string]*nodescript.Node)}
	for _, h := range hosts {
		r.nodes[h] = r.Start(&nodescript.Node{Host: h})
		r.config.Seeds = append(r.config.Seeds, r.nodes[h].Address())
	}
	for _, m := range maps {
		r.SetMap(m)
	}
	r.config.Shuffle = func(int, func(i, j int)) {}
	r.config.KV = kv.Config{Dial: r.DialContext, Agent: "test", Features: nodescript.Features, Timeout: time.Second}
	return r
}

// open opens the cluster. It is closed at the end of the bubble by close.
func (r *rig) open() *cluster.Cluster {
	r.t.Helper()
	c, err := cluster.Open(r.config)
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

// stop ends the nodes.
func (r *rig) stop() {
	for _, n := range r.nodes {
		n.Stop()
	}
	synctest.Wait()
}

// inBubble runs a test on the fake clock with a rig, and fails if anything still runs afterwards.
func inBubble(t *testing.T, hosts []string, maps []nodescript.Map, f func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, hosts, maps...)
		defer r.stop()
		f(t, r)
	})
}

// after waits on the fake clock.
func after(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func version(s *cluster.Snapshot) memd.MapVersion {
	if s == nil {
		return memd.MapVersion{}
	}
	return s.Map.Version
}
