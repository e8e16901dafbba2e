package cluster_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/cluster"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/internal/couchbase/nodescript"
)

// opened opens a bucket on two nodes.
func opened(t *testing.T, f func(t *testing.T, r *rig, b *cluster.Bucket)) {
	t.Helper()
	inBubble(t, []string{"a", "b"}, []nodescript.Map{two(1)}, func(t *testing.T, r *rig) {
		c := r.open()
		defer c.Close()
		b := c.Bucket("bucket")
		after(5 * ms)
		r.ClearLog()
		f(t, r, b)
	})
}

func TestAnEndpointConnectsAgainAfter10msGrowingTo5s(t *testing.T) {
	opened(t, func(t *testing.T, r *rig, b *cluster.Bucket) {
		e := b.Snapshot().Endpoints[0]
		r.nodes["a"].Refuse(true)
		r.nodes["a"].Cut()
		synctest.Wait()
		if e.Conn() != nil || e.Err() == nil {
			t.Fatalf("%v, %v", e.Conn(), e.Err())
		}
		want := []time.Duration{10, 30, 70, 150, 310, 630, 1270, 2550, 5110, 10110, 15110}
		for i, at := range want {
			after(at*ms - 1 - elapsed(r))
			if n := dialsOf(r, "a"); n != i {
				t.Fatalf("%d dials before %v", n, at*ms)
			}
			after(1)
			if n := dialsOf(r, "a"); n != i+1 {
				t.Fatalf("%d dials at %v", n, at*ms)
			}
		}
		r.nodes["a"].Refuse(false)
		after(5 * time.Second)
		if e.Conn() == nil || e.Err() != nil {
			t.Fatalf("%v, %v", e.Conn(), e.Err())
		}
		after(6 * time.Second)
		r.ClearLog()
		r.nodes["a"].Cut()
		after(10 * ms)
		if dialsOf(r, "a") != 1 || e.Conn() == nil {
			t.Error("after a connection that lasted the delays begin anew")
		}
	})
}

func elapsed(r *rig) time.Duration { return r.Elapsed() }

func dialsOf(r *rig, host string) int {
	n := 0
	for _, d := range r.Dials() {
		if d == host+":11210" {
			n++
		}
	}
	return n
}

// A node that accepts connections and ends them at once is not dialled all the time.
func TestANodeThatEndsEveryConnection(t *testing.T) {
	opened(t, func(t *testing.T, r *rig, _ *cluster.Bucket) {
		stop := time.Now().Add(2 * time.Second)
		for time.Now().Before(stop) {
			after(5 * ms)
			r.nodes["a"].Cut()
		}
		if n := dialsOf(r, "a"); n > 50 { // one in 40 ms
			t.Errorf("%d dials in 2 s", n)
		}
	})
}

func TestTheConnectionsOfANodeThatLeftAreClosedAtOnce(t *testing.T) {
	for _, state := range []string{"connected", "down"} {
		t.Run(state, func(t *testing.T) {
			opened(t, func(t *testing.T, r *rig, b *cluster.Bucket) {
				gone := b.Snapshot().Endpoints[0]
				if state == "down" {
					r.nodes["a"].Refuse(true)
					r.nodes["a"].Cut()
					after(5 * ms)
				}
				m := only(2)
				m.Hosts = []string{"b"}
				r.SetMap(m)
				r.nodes["b"].Push(true)
				synctest.Wait()
				if r.nodes["a"].Conns() != 0 || gone.Conn() != nil || gone.Err() == nil {
					t.Errorf("%d connections, %v", r.nodes["a"].Conns(), gone.Err())
				}
				r.nodes["a"].Refuse(false)
				r.ClearLog()
				after(10 * time.Second)
				if n := dialsOf(r, "a"); n != 0 {
					t.Errorf("it is dialled %d times", n)
				}
				if e := b.Snapshot().Endpoints[0]; e.Conn() == nil {
					t.Error("the other node lost its connection")
				}
			})
		})
	}
}

func TestEndpointsStayWhatTheyAreWhenTheMapKeepsTheirNodes(t *testing.T) {
	opened(t, func(t *testing.T, r *rig, b *cluster.Bucket) {
		before := slices.Clone(b.Snapshot().Endpoints)
		m := two(2)
		m.Hosts, m.VBuckets = []string{"b", "a"}, [][]int{{1, 0}, {1, 0}, {0, 1}, {0, 1}}
		r.SetMap(m)
		r.nodes["a"].Push(true)
		synctest.Wait()
		slices.Reverse(before)
		if s := b.Snapshot(); s.Map.Version.Revision != 2 || !slices.Equal(s.Endpoints, before) || len(r.Dials()) != 0 {
			t.Errorf("%v, dialled %q", s.Endpoints, r.Dials())
		}
	})
}

func TestThePollFindsANewerMap(t *testing.T) {
	for _, features := range [][]memd.Feature{nodescript.Features, {memd.FeatureSelectBucket, memd.FeatureXerror}} {
		t.Run(fmt.Sprint(len(features)), func(t *testing.T) {
			inBubble(t, []string{"a", "b"}, []nodescript.Map{two(1)}, func(t *testing.T, r *rig) {
				for _, n := range r.nodes {
					n.Change(func() { n.Accept = features })
				}
				c := r.open()
				defer c.Close()
				b := c.Bucket("bucket")
				after(ms)
				r.SetMap(two(2))
				after(2498 * ms)
				if v := version(b.Snapshot()); v.Revision != 1 || len(r.Fetches()) != 0 {
					t.Errorf("before the poll: %v", v)
				}
				after(ms)
				if v := version(b.Snapshot()); v.Revision != 2 || len(r.Fetches()) != 1 {
					t.Errorf("after the poll: %v, %v", v, r.Fetches())
				}
				known := len(r.Fetches()[0].Request.Extras) == 16
				if known != (len(features) > 2) {
					t.Errorf("the extras are % x", r.Fetches()[0].Request.Extras)
				}
				after(2500 * ms)
				if v := version(b.Snapshot()); v.Revision != 2 || len(r.Fetches()) != 2 {
					t.Errorf("after the second poll: %v, %v", v, r.Fetches())
				}
			})
		})
	}
}

// I/O errors ask at once, under the same floor (RFC 24).
func TestALostConnectionAsksTheOtherNodesForAMapAtOnce(t *testing.T) {
	opened(t, func(t *testing.T, r *rig, b *cluster.Bucket) {
		r.SetMap(two(2))
		r.nodes["a"].Refuse(true)
		r.nodes["a"].Cut()
		synctest.Wait()
		if f := r.Fetches(); len(f) != 1 || f[0].Host != "b" || f[0].After != 0 || version(b.Snapshot()).Revision != 2 {
			t.Errorf("%v, %v", f, version(b.Snapshot()))
		}
		after(20 * ms) // a dial fails within the floor
		if f := r.Fetches(); len(f) != 1 {
			t.Errorf("%v", f)
		}
		after(60 * ms) // and one after it
		if f := r.Fetches(); len(f) != 2 || f[1].After != 70*ms {
			t.Errorf("%v", f)
		}
	})
}

func TestAMapComesByAHandshake(t *testing.T) {
	opened(t, func(t *testing.T, r *rig, b *cluster.Bucket) {
		for _, n := range r.nodes { // nobody answers a fetch
			n.Change(func() { n.Maps = func(memd.Packet) (memd.Packet, bool) { return memd.Packet{}, false } })
		}
		r.nodes["b"].Cut()
		r.SetMap(two(2))
		after(11 * ms)
		if v := version(b.Snapshot()); v.Revision != 2 {
			t.Errorf("%v", v)
		}
	})
}

func TestAFetchAsksTheNodeThatIsNamedFirst(t *testing.T) {
	opened(t, func(t *testing.T, r *rig, b *cluster.Bucket) {
		for i := range 20 {
			b.Refresh(b.Snapshot(), b.Snapshot().Endpoints[i%2])
			after(50 * ms)
			if f := r.Fetches()[i]; f.Host != []string{"a", "b"}[i%2] {
				t.Errorf("fetch %d asks %s", i, f.Host)
			}
		}
	})
}

func TestTheSameMapIsReadOnce(t *testing.T) {
	opened(t, func(t *testing.T, _ *rig, b *cluster.Bucket) {
		body := two(2).JSON()
		if !b.Learn(body, "a:11210") || b.Learn([]byte("{"), "a:11210") || version(b.Snapshot()).Revision != 2 {
			t.Fatal("the map was not taken")
		}
		if n := testing.AllocsPerRun(10, func() { b.Learn(body, "a:11210") }); n != 0 {
			t.Errorf("%v allocations", n)
		}
		b.Learn(two(3).JSON(), "a:11210")
		if !b.Learn(body, "a:11210") || version(b.Snapshot()).Revision != 3 {
			t.Error("an older map changes nothing")
		}
	})
}

func TestAFetchAsksOneNodeAfterTheOther(t *testing.T) {
	opened(t, func(t *testing.T, r *rig, b *cluster.Bucket) {
		silent := func(memd.Packet) (memd.Packet, bool) { return memd.Packet{}, false }
		r.nodes["a"].Change(func() { r.nodes["a"].Maps = silent })
		r.SetMap(two(2))
		s := b.Snapshot()
		for range 10 {
			b.Refresh(s, s.Endpoints[0])
		}
		after(499 * ms)
		if n := len(r.Fetches()); n != 1 || r.Fetches()[0].Host != "a" {
			t.Fatalf("%v", r.Fetches())
		}
		after(ms)
		if v := version(b.Snapshot()); v.Revision != 2 || len(r.Fetches()) != 2 {
			t.Errorf("%v, %v", v, r.Fetches())
		}
		b.Refresh(s, nil) // the map is newer by now
		synctest.Wait()
		if len(r.Fetches()) != 2 {
			t.Errorf("%v", r.Fetches())
		}
	})
}

func TestAPushOfAVersionThatIsKnownAsksNobody(t *testing.T) {
	opened(t, func(t *testing.T, r *rig, b *cluster.Bucket) {
		r.nodes["a"].Push(false)
		r.nodes["b"].Push(true)
		after(5 * ms)
		if len(r.Fetches()) != 0 {
			t.Errorf("%v", r.Fetches())
		}
		for revision := range int64(20) { // the floor does not hold for maps that are there
			r.SetMap(two(revision + 2))
			r.nodes["a"].Push(false)
			r.nodes["b"].Push(false)
			after(5 * ms)
			if v := version(b.Snapshot()); v.Revision != revision+2 {
				t.Fatalf("%v after %d", v, revision+2)
			}
		}
		if n := len(r.Fetches()); n > 40 {
			t.Errorf("%d fetches", n)
		}
	})
}

// An idle client with a bucket on two nodes: the bar of the whole client is 6 goroutines.
func TestAnIdleClientHasFewGoroutines(t *testing.T) {
	before := runtime.NumGoroutine()
	inBubble(t, []string{"a", "b"}, []nodescript.Map{two(1)}, func(t *testing.T, r *rig) {
		after(ms)
		nodes := runtime.NumGoroutine()
		c := r.open()
		defer c.Close()
		c.Bucket("bucket")
		after(time.Second)
		served := r.nodes["a"].Conns() + r.nodes["b"].Conns() // the nodes have a goroutine for each connection
		if n := runtime.NumGoroutine() - nodes - served; n > 4 || served != 2 {
			t.Errorf("%d goroutines and %d connections (%d before)", n, served, before)
		}
	})
}

func TestWaitsEnd(t *testing.T) {
	opened(t, func(t *testing.T, r *rig, b *cluster.Bucket) {
		s := b.Snapshot()
		moves := b.Wake(s, cluster.Wait{VBucket: 0})
		stays := b.Wake(s, cluster.Wait{VBucket: 1})
		if moves != b.Wake(s, cluster.Wait{VBucket: 0}) {
			t.Error("all who wait for the same thing share one channel")
		}
		m := two(2)
		m.VBuckets[0] = []int{1, 0}
		r.SetMap(m)
		r.nodes["b"].Push(true)
		synctest.Wait()
		if !ended(moves) || ended(stays) {
			t.Errorf("moved %v, not moved %v", ended(moves), ended(stays))
		}
		if !ended(b.Wake(s, cluster.Wait{VBucket: 0})) || ended(b.Wake(s, cluster.Wait{VBucket: 1})) || ended(b.Wake(b.Snapshot(), cluster.Wait{VBucket: 0})) {
			t.Error("what happened since the snapshot ends a wait that begins now")
		}
		if !ended(b.Wake(b.Snapshot(), cluster.Wait{VBucket: 1, Endpoint: s.Endpoints[0]})) {
			t.Error("an endpoint that can be used is not waited for")
		}
		replica := b.Wake(b.Snapshot(), cluster.Wait{VBucket: 3, Replica: 1})
		m = two(3)
		m.VBuckets[0], m.VBuckets[3] = []int{1, 0}, []int{1, -1}
		r.SetMap(m)
		r.nodes["b"].Push(true)
		synctest.Wait()
		if !ended(replica) || ended(stays) {
			t.Error("a replica that moved ends the waits for it")
		}
	})
}

func TestNewerMapsAreTold(t *testing.T) {
	inBubble(t, []string{"a", "b"}, []nodescript.Map{alone("a", "b"), two(2)}, func(t *testing.T, r *rig) {
		c := r.open()
		first := c.Newer(nil)
		synctest.Wait()
		if !ended(first) || !ended(c.Newer(nil)) {
			t.Error("the first map of the cluster")
		}
		b := c.Bucket("bucket")
		_, ofBucket := b.Opening()
		ofCluster := c.Newer(c.Snapshot())
		if ended(ofBucket) || ended(ofCluster) {
			t.Error("nothing has happened yet")
		}
		synctest.Wait()
		if !ended(ofBucket) || !ended(ofCluster) {
			t.Errorf("the bucket is open: %v %v", ended(ofBucket), ended(ofCluster))
		}
		ofCluster = c.Newer(c.Snapshot())
		if err, news := b.Opening(); err != nil || !ended(news) || ended(ofCluster) {
			t.Error("an open bucket is not waited for", err)
		}
		r.SetMap(two(3))
		r.nodes["a"].Push(true)
		after(5 * ms)
		if !ended(ofCluster) || c.Snapshot() != b.Snapshot() {
			t.Error("a newer map")
		}
		ofCluster = c.Newer(c.Snapshot())
		c.Close()
		if !ended(ofCluster) || !ended(c.Newer(c.Snapshot())) {
			t.Error("Close ends the waits")
		}
	})
}

func ended(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
