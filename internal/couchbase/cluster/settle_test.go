package cluster_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/cluster"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/internal/couchbase/nodescript"
)

// The connection on which the bucket was opened ends between the map, which the node pushes, and the answer to the request for the map. Its
// node must be connected again, also if another node is found first.
func TestTheConnectionOfTheBucketEndsBeforeItHasItsPlace(t *testing.T) {
	inBubble(t, []string{"a", "b"}, []nodescript.Map{alone("a", "b"), two(1)}, func(t *testing.T, r *rig) {
		a := r.nodes["a"]
		a.Change(func() {
			a.Maps = func(memd.Packet) (memd.Packet, bool) {
				a.Push(true)
				synctest.Wait()
				a.Refuse(true)
				a.Cut()
				return memd.Packet{}, false
			}
		})
		c := r.open()
		defer c.Close()
		synctest.Wait()
		b := c.Bucket("bucket")
		after(50 * ms)
		a.Change(func() { a.Maps = nil })
		a.Refuse(false)
		after(time.Minute)
		for i, e := range b.Snapshot().Endpoints {
			if e.Conn() == nil {
				t.Errorf("endpoint %d has no connection: %v", i, e.Err())
			}
		}
		if a, b := a.Conns(), r.nodes["b"].Conns(); a != 1 || b != 1 {
			t.Errorf("%d and %d connections", a, b)
		}
	})
}

func TestNodesWithoutDataHaveNoEndpoint(t *testing.T) {
	m := only(1)
	m.Joining = []string{"b"}
	inBubble(t, []string{"a", "b"}, []nodescript.Map{alone("a", "b"), m}, func(t *testing.T, r *rig) {
		c := r.open()
		defer c.Close()
		b := c.Bucket("bucket")
		after(time.Second)
		if s := b.Snapshot(); len(s.Map.Nodes) != 2 || s.Endpoints[0] == nil || s.Endpoints[1] != nil || r.nodes["b"].Conns() != 0 {
			t.Errorf("%d nodes, endpoints %v, %d connections", len(s.Map.Nodes), s.Endpoints, r.nodes["b"].Conns())
		}
	})
}

func TestAnAddressThatAMapHasTwiceIsOneEndpoint(t *testing.T) {
	m := two(2)
	m.Hosts = []string{"b", "b"}
	inBubble(t, []string{"a", "b"}, []nodescript.Map{alone("a"), only(1)}, func(t *testing.T, r *rig) {
		c := r.open()
		defer c.Close()
		b := c.Bucket("bucket")
		synctest.Wait()
		r.SetMap(m)
		r.nodes["a"].Push(true)
		after(time.Second)
		if s := b.Snapshot(); s.Endpoints[0] != s.Endpoints[1] || r.nodes["b"].Conns() != 1 {
			t.Errorf("endpoints %v, %d connections", s.Endpoints, r.nodes["b"].Conns())
		}
	})
}

func TestABucketThatOpenedLaterHasNoError(t *testing.T) {
	inBubble(t, []string{"a"}, []nodescript.Map{alone("a"), only(1)}, func(t *testing.T, r *rig) {
		r.nodes["a"].Change(func() { r.nodes["a"].Missing = []string{"bucket"} })
		c := r.open()
		defer c.Close()
		b := c.Bucket("bucket")
		after(100 * ms)
		if b.Err() == nil {
			t.Error("a bucket that is not there has no error")
		}
		r.nodes["a"].Change(func() { r.nodes["a"].Missing = nil })
		after(2 * time.Second)
		if b.Err() != nil || b.Snapshot() == nil {
			t.Errorf("%v", b.Err())
		}
	})
}

// The bucket is not asked for any more on a connection that has ended: its errors would hide that the bucket is open.
func TestABucketThatOpenedOnAnotherConnectionHasNoError(t *testing.T) {
	inBubble(t, []string{"a"}, []nodescript.Map{alone("a"), only(1)}, func(t *testing.T, r *rig) {
		r.nodes["a"].Change(func() { r.nodes["a"].Missing = []string{"bucket"} })
		c := r.open()
		defer c.Close()
		b := c.Bucket("bucket")
		after(100 * ms)
		r.nodes["a"].Cut()
		after(100 * ms)
		r.nodes["a"].Change(func() { r.nodes["a"].Missing = nil })
		after(5 * time.Second)
		if b.Err() != nil || b.Snapshot() == nil {
			t.Errorf("%v", b.Err())
		}
	})
}

func TestAfterCloseNoMapIsTaken(t *testing.T) {
	inBubble(t, []string{"a"}, []nodescript.Map{alone("a"), only(1)}, func(t *testing.T, r *rig) {
		c := r.open()
		b := c.Bucket("bucket")
		synctest.Wait()
		s := b.Snapshot()
		c.Close()
		if b.Learn(only(2).JSON(), "a:11210") || b.Snapshot() != s {
			t.Error("it took a map")
		}
	})
}

// No node is asked twice within 50 ms; the next fetch asks the one whose 50 ms end first.
func TestTheNextFetchAsksTheNodeThatMayBeAskedFirst(t *testing.T) {
	inBubble(t, []string{"a", "b"}, []nodescript.Map{alone("a", "b"), two(1)}, func(t *testing.T, r *rig) {
		r.config.PollInterval = -1
		c := r.open()
		defer c.Close()
		b := c.Bucket("bucket")
		after(time.Second)
		r.ClearLog()
		s := b.Snapshot()
		b.Refresh(s, s.Endpoints[0])
		after(30 * ms)
		b.Refresh(s, s.Endpoints[1])
		after(10 * ms)
		b.Wake(s, cluster.Wait{VBucket: 0})
		b.Refresh(s, nil)
		after(30 * ms)
		var asked []string
		for _, e := range r.Fetches() {
			asked = append(asked, e.String())
		}
		if want := "[0s a GET_CLUSTER_CONFIG 30ms b GET_CLUSTER_CONFIG 50ms a GET_CLUSTER_CONFIG]"; fmt.Sprint(asked) != want {
			t.Errorf("asked %v", asked)
		}
	})
}

func TestPushesOfOneVersionFetchOneMap(t *testing.T) {
	inBubble(t, []string{"a", "b"}, []nodescript.Map{alone("a", "b"), two(1)}, func(t *testing.T, r *rig) {
		r.config.PollInterval = -1
		c := r.open()
		defer c.Close()
		b := c.Bucket("bucket")
		after(time.Second)
		r.ClearLog()
		r.SetMap(two(2))
		for range 3 {
			r.nodes["a"].Push(false)
			r.nodes["b"].Push(false)
		}
		after(time.Second)
		if n := len(r.Fetches()); n != 1 || b.Snapshot().Map.Version.Revision != 2 {
			t.Errorf("%d fetches, revision %d", n, b.Snapshot().Map.Version.Revision)
		}
	})
}

func TestTheRecordIsNotResolvedWhileANodeAnswers(t *testing.T) {
	inBubble(t, []string{"a"}, []nodescript.Map{alone("a"), only(1)}, func(t *testing.T, r *rig) {
		resolved := 0
		r.config.SRV = "_couchbase._tcp.a"
		r.config.Resolve = func(context.Context, string) ([]string, error) {
			resolved++
			return []string{"a:11210"}, nil
		}
		c := r.open()
		defer c.Close()
		c.Bucket("bucket")
		after(time.Minute)
		if resolved != 1 || len(r.Dials()) != 1 {
			t.Errorf("resolved %d times, dialled %q", resolved, r.Dials())
		}
	})
}

// A node says with its first answer that it has left the cluster.
func TestAConnectionToANodeThatHasLeftIsClosed(t *testing.T) {
	inBubble(t, []string{"a", "b"}, []nodescript.Map{alone("a", "b"), two(1)}, func(t *testing.T, r *rig) {
		c := r.open()
		defer c.Close()
		b := c.Bucket("bucket")
		after(time.Second)
		r.nodes["a"].Change(func() { // only the other node knows the newer map
			r.nodes["a"].Maps = func(memd.Packet) (memd.Packet, bool) { return memd.Packet{}, true }
		})
		r.SetMap(only(2))
		r.nodes["b"].Cut()
		after(time.Second)
		if v := version(b.Snapshot()); v.Revision != 2 || r.nodes["b"].Conns() != 0 {
			t.Errorf("revision %d, %d connections", v.Revision, r.nodes["b"].Conns())
		}
	})
}

func TestABucketIsAskedForEverySecondAtLeast(t *testing.T) {
	inBubble(t, []string{"a"}, []nodescript.Map{alone("a"), only(1)}, func(t *testing.T, r *rig) {
		r.nodes["a"].Change(func() { r.nodes["a"].Missing = []string{"bucket"} })
		c := r.open()
		defer c.Close()
		b := c.Bucket("bucket")
		after(31 * time.Second)
		r.nodes["a"].Change(func() { r.nodes["a"].Missing = nil })
		after(time.Second)
		if b.Snapshot() == nil {
			t.Errorf("a second after the bucket was made: %v", b.Err())
		}
	})
}

func TestASeedWithABrokenMapKeepsNoConnection(t *testing.T) {
	broken := only(1)
	broken.VBuckets = [][]int{{0, 0, 0, 0, 0}} // no bucket has four replicas
	inBubble(t, []string{"a"}, []nodescript.Map{broken}, func(t *testing.T, r *rig) {
		c := r.open()
		defer c.Close()
		b := c.Bucket("bucket")
		after(10 * time.Second)
		if n := r.nodes["a"].Conns(); n > 1 || b.Snapshot() != nil || b.Err() == nil {
			t.Errorf("%d connections, %v", n, b.Err())
		}
		r.SetMap(only(2))
		after(10 * time.Second)
		if b.Snapshot() == nil {
			t.Error(b.Err())
		}
	})
}

// A node that answers no request for a map is asked by one NOOP whether it still answers.
func TestASilentNodeIsAskedByOneNOOP(t *testing.T) {
	inBubble(t, []string{"a"}, []nodescript.Map{alone("a"), only(1)}, func(t *testing.T, r *rig) {
		r.config.PollInterval, r.config.PollTimeout = 100*ms, 50*ms
		c := r.open()
		defer c.Close()
		c.Bucket("bucket")
		after(ms)
		nothing := func(memd.Packet) (memd.Packet, bool) { return memd.Packet{}, false }
		r.nodes["a"].Change(func() { r.nodes["a"].Maps, r.nodes["a"].Script = nothing, nothing })
		after(900 * ms)
		if n := len(r.Log()); n != 1 || len(r.Fetches()) < 5 {
			t.Errorf("%d NOOPs and %d requests for maps", n, len(r.Fetches()))
		}
	})
}

// A node that answered a NOOP can fall silent later.
func TestEachSilenceIsFound(t *testing.T) {
	inBubble(t, []string{"a"}, []nodescript.Map{alone("a"), only(1)}, func(t *testing.T, r *rig) {
		r.config.PollInterval, r.config.PollTimeout = 100*ms, 50*ms
		c := r.open()
		defer c.Close()
		b := c.Bucket("bucket")
		after(ms)
		conn := b.Snapshot().Endpoints[0].Conn()
		a := r.nodes["a"]
		nothing := func(memd.Packet) (memd.Packet, bool) { return memd.Packet{}, false }
		a.Change(func() { // it answers NOOPs, 600 ms late
			a.Maps = nothing
			a.Script = func(memd.Packet) (memd.Packet, bool) {
				<-time.After(600 * ms)
				return memd.Packet{}, true
			}
		})
		after(700 * ms)
		if b.Snapshot().Endpoints[0].Conn() != conn {
			t.Error("the connection was closed, although the node answers")
		}
		a.Change(func() { a.Script = nothing })
		after(3 * time.Second)
		if b.Snapshot().Endpoints[0].Conn() == conn {
			t.Error("the connection is still there")
		}
	})
}
