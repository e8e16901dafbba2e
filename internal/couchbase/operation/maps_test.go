package operation_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/cluster"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/internal/couchbase/nodescript"
	"github.com/holdfast-db/holdfast/internal/couchbase/operation"
	"github.com/holdfast-db/holdfast/retry"
)

// refusing is a script: the named hosts answer a status, with a value, and the others succeed.
func refusing(s memd.Status, value []byte, hosts ...string) nodeScript {
	return func(host string, _ int, _ memd.Packet) (answer, bool) {
		for _, h := range hosts {
			if h == host {
				return answer{Status: s, Value: value}, true
			}
		}
		return answer{}, true
	}
}

func forwarding(revision int64) nodescript.Map {
	m := newest(revision)
	m.Forward = [][]int{{1, 0}, {1, 0}}
	return m
}

func TestARefusalWithNotMyVBucket(t *testing.T) {
	older := moved(1)
	older.Epoch = 0
	newerEpoch := moved(0)
	newerEpoch.Epoch = 2
	other := moved(9)
	other.Bucket = "other"
	back := moved(2)
	back.Forward = [][]int{{0, 1}, {0, 1}}
	wrongSize := moved(9)
	wrongSize.VBuckets = wrongSize.VBuckets[:1]
	for _, c := range []struct {
		name    string
		carried *nodescript.Map
		raw     string         // instead of carried
		current nodescript.Map // what the nodes answer to a fetch; Revision 0: newest(1)
		initial nodescript.Map
		fetches int
		want    string
	}{
		{"a newer map is taken, and the new owner is asked after 1 ms", ptr(moved(2)), "", nodescript.Map{}, nodescript.Map{}, 0, "0s@a 1ms@b"},
		{"the epoch comes before the revision", &newerEpoch, "", nodescript.Map{}, nodescript.Map{}, 0, "0s@a 1ms@b"},
		{"the owner in the newer map comes before the forward owner", &back, "", nodescript.Map{}, nodescript.Map{}, 0, "0s@a 1ms@b"},
		{"an equal map changes nothing", ptr(moved(1)), "", nodescript.Map{}, nodescript.Map{}, 0, "0s@a 1ms@a 11ms@a"},
		{"an older map changes nothing", &older, "", nodescript.Map{}, nodescript.Map{}, 0, "0s@a 1ms@a 11ms@a"},
		{"without a map one is fetched, and its coming ends the wait", nil, "", moved(2), nodescript.Map{}, 1, "0s@a 0s@b"},
		{"without a map, and no newer one: the ladder", nil, "", nodescript.Map{}, nodescript.Map{}, 3, "0s@a 1ms@a 11ms@a"},
		{"a map that is none is no map", nil, "{", moved(2), nodescript.Map{}, 1, "0s@a 0s@b"},
		{"the map of another bucket is no map", &other, "", moved(2), nodescript.Map{}, 1, "0s@a 0s@b"},
		{"a map with another number of vbuckets is no map", &wrongSize, "", moved(2), nodescript.Map{}, 1, "0s@a 0s@b"},
		{"during a rebalance the forward owner is next", ptr(forwarding(1)), "", nodescript.Map{}, forwarding(1), 0, "0s@a 1ms@b"},
		{"without a map too", nil, "", forwarding(1), forwarding(1), 1, "0s@a 1ms@b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			value := []byte(c.raw)
			if c.carried != nil {
				value = c.carried.JSON()
			}
			n := 0
			script := func(host string, _ int, _ memd.Packet) (answer, bool) {
				if n++; host == "a" && n < 3 {
					return answer{Status: memd.StatusNotMyVBucket, Value: value}, true
				}
				return answer{}, true
			}
			inWorld(t, script, func(w *world) {
				if c.current.Revision != 0 {
					w.SetMap(c.current)
				}
				if _, err := w.do(w.increment(keyOf0)); err != nil {
					t.Fatal(err)
				}
				equal(t, "requests", w.where(), c.want)
				if got := len(w.Fetches()); got > c.fetches || c.fetches > 0 && got == 0 {
					t.Errorf("%d fetches: %v", got, w.Fetches())
				}
			}, func(w *world, _ *cluster.Config, _ *operation.Config) {
				if c.initial.Revision != 0 {
					w.SetMap(c.initial)
				}
			})
		})
	}
}

func TestARefusalByANodeThatHasMapsOnly(t *testing.T) {
	for _, c := range []struct {
		name             string
		initial, current nodescript.Map
		want             string
	}{
		{"a map is fetched, and its coming ends the wait", newest(1), moved(2), "0s@a 0s@b"},
		{"during a rebalance the forward owner is next", forwarding(1), forwarding(1), "0s@a 1ms@b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, refusing(memd.StatusConfigOnly, nil, "a"), func(w *world) {
				w.SetMap(c.current)
				if _, err := w.do(w.increment(keyOf0)); err != nil {
					t.Fatal(err)
				}
				equal(t, "requests", w.where(), c.want)
				if n := len(w.Fetches()); n != 1 {
					t.Errorf("%d fetches", n)
				}
			}, func(w *world, _ *cluster.Config, _ *operation.Config) { w.SetMap(c.initial) })
		})
	}
}

func ptr[T any](v T) *T { return &v }

func TestTheForwardOwnerStaysUntilANewerMapComes(t *testing.T) {
	inWorld(t, refusing(memd.StatusNotMyVBucket, nil, "a", "b"), func(w *world) {
		time.AfterFunc(225*ms, func() {
			w.SetMap(newest(2)) // the rebalance was cancelled
			w.nodes["a"].Change(func() { w.nodes["a"].Script = nil })
			w.nodes["b"].Push(true)
		})
		if _, err := w.do(w.get(keyOf0)); err != nil {
			t.Fatal(err)
		}
		equal(t, "requests", w.where(), "0s@a 1ms@b 11ms@b 61ms@b 161ms@b 225ms@a")
	}, func(w *world, _ *cluster.Config, _ *operation.Config) { w.SetMap(forwarding(1)) })
}

// Only active vbuckets have a forward owner.
func TestAReplicaReadHasNoForwardOwner(t *testing.T) {
	inWorld(t, refusing(memd.StatusNotMyVBucket, forwarding(1).JSON(), "b"), func(w *world) {
		q := w.get(keyOf0)
		q.Opcode, q.Replica = memd.OpGetReplica, 1
		if _, err := w.within(context.Background(), 50*ms, q); !errors.Is(err, operation.ErrNotMyVBucket) {
			t.Error(err)
		}
		equal(t, "requests", w.where(), "0s@b 1ms@b 11ms@b")
	}, func(w *world, _ *cluster.Config, _ *operation.Config) {
		m := forwarding(1)
		m.Forward = [][]int{{0, 1}, {0, 1}}
		w.SetMap(m)
	})
}

func TestWhileAnOperationWaitsForAnOwnerMapsAreFetched(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		time.AfterFunc(777*ms, func() { w.SetMap(newest(2)) }) // nobody pushes it
		if _, err := w.do(w.get(keyOf0)); err != nil {
			t.Fatal(err)
		}
		if at := w.Log()[0].After; at < 777*ms || at > 777*ms+60*ms {
			t.Errorf("the first success came after %v", at)
		}
	}, noNode)
}

// With deduplicated maps an empty 07 means "you could know": a newer map that came meanwhile is used, and nobody is asked.
func TestANewerMapThatIsThereIsUsed(t *testing.T) {
	inWorld(t, func(host string, _ int, _ memd.Packet) (answer, bool) {
		if host == "a" {
			<-time.After(5 * ms)
			return answer{Status: memd.StatusNotMyVBucket}, true
		}
		return answer{}, true
	}, func(w *world) {
		<-time.After(5 * ms)
		w.ClearLog()
		w.SetMap(moved(2))
		time.AfterFunc(2*ms, func() { w.nodes["b"].Push(true) })
		if _, err := w.do(w.increment(keyOf0)); err != nil {
			t.Fatal(err)
		}
		equal(t, "requests", w.where(), "0s@a 5ms@b")
		if len(w.Fetches()) != 0 {
			t.Errorf("%v", w.Fetches())
		}
	})
}

func TestAPushEndsTheWaitsAtOnce(t *testing.T) {
	for _, whole := range []bool{true, false} {
		t.Run(fmt.Sprintf("whole %v", whole), func(t *testing.T) {
			inWorld(t, refusing(memd.StatusNotMyVBucket, newest(1).JSON(), "a"), func(w *world) {
				time.AfterFunc(25*ms, func() {
					w.SetMap(moved(2))
					w.nodes["b"].Push(whole)
				})
				if _, err := w.do(w.get(keyOf0)); err != nil {
					t.Fatal(err)
				}
				equal(t, "requests", w.where(), "0s@a 1ms@a 11ms@a 25ms@b")
			})
		})
	}
}

func TestAMapThatDoesNotMoveTheVBucketDoesNotEndTheWait(t *testing.T) {
	inWorld(t, func(_ string, n int, _ memd.Packet) (answer, bool) {
		if n < 4 {
			return answer{Status: memd.StatusNotMyVBucket, Value: newest(1).JSON()}, true
		}
		return answer{}, true
	}, func(w *world) {
		time.AfterFunc(25*ms, func() {
			m := newest(2)
			m.VBuckets[1] = []int{0, 1} // only vbucket 1 moves
			w.SetMap(m)
			w.nodes["b"].Push(true)
		})
		if _, err := w.do(w.get(keyOf0)); err != nil {
			t.Fatal(err)
		}
		equal(t, "requests", w.where(), "0s@a 1ms@a 11ms@a 61ms@a 161ms@a")
	})
}

func TestManyCallersThatMeetNotMyVBucketFetchOneMap(t *testing.T) {
	for _, carried := range []bool{true, false} {
		t.Run(fmt.Sprintf("carried %v", carried), func(t *testing.T) {
			var value []byte
			if carried {
				value = moved(2).JSON()
			}
			refuse := refusing(memd.StatusNotMyVBucket, value, "a")
			inWorld(t, func(host string, n int, r memd.Packet) (answer, bool) {
				if n == 0 {
					<-time.After(ms) // meanwhile all callers have sent
				}
				return refuse(host, n, r)
			}, func(w *world) {
				w.SetMap(moved(2))
				var callers sync.WaitGroup
				for range 64 {
					callers.Go(func() {
						var r operation.Result
						if err := w.runner.Run(context.Background(), time.Second, w.get(keyOf0), &r); err != nil {
							t.Error(err)
						}
					})
				}
				callers.Wait()
				fetches := 1
				if carried {
					fetches = 0
				}
				if got := len(w.Fetches()); got != fetches || len(w.Log()) != 128 {
					t.Errorf("%d fetches and %d requests", got, len(w.Log()))
				}
			})
		})
	}
}

// The bars of the figures: an empty 07 for 100 ms costs at most 5 requests, 0d for 300 ms at most 7.
func TestARefusalThatLastsCostsFewRequests(t *testing.T) {
	for _, c := range []struct {
		status memd.Status
		lasts  time.Duration
		most   int
		figure string
	}{
		{memd.StatusNotMyVBucket, 100 * ms, 5, "cb-nmvb-requests"},
		{memd.StatusConfigOnly, 300 * ms, 7, "cb-config-only-requests"},
	} {
		t.Run(c.status.String(), func(t *testing.T) {
			inWorld(t, refusing(c.status, nil, "a", "b"), func(w *world) {
				time.AfterFunc(c.lasts, func() {
					for _, n := range w.nodes {
						n.Change(func() { n.Script = nil })
					}
				})
				if _, err := w.do(w.get(keyOf0)); err != nil {
					t.Fatal(err)
				}
				n := len(w.Log())
				if n > c.most || n < 3 {
					t.Errorf("%d requests: %v", n, w.where())
				}
				fmt.Printf("figure %s %d\n", c.figure, n)
				for _, host := range []string{"a", "b"} {
					last := -time.Hour
					for _, f := range w.Fetches() {
						if f.Host == host && f.After-last < 50*ms {
							t.Errorf("%s was asked for a map at %v and at %v", host, last, f.After)
						} else if f.Host == host {
							last = f.After
						}
					}
				}
			})
		})
	}
}

// A node becomes a black hole. The map without it ends its requests at once.
func TestRequestsInABlackHoleEndWithTheMapWithoutTheNode(t *testing.T) {
	silent := func(host string, _ int, _ memd.Packet) (answer, bool) { return answer{}, host != "a" }
	inWorld(t, silent, func(w *world) {
		without := newest(2)
		without.Hosts, without.VBuckets = []string{"b"}, [][]int{{0}, {0}}
		time.AfterFunc(300*ms, func() {
			w.SetMap(without)
			w.nodes["b"].Push(true)
		})
		began := time.Now()
		var callers sync.WaitGroup
		for i := range 10 {
			callers.Go(func() {
				var r operation.Result
				q, want := w.get(keyOf0), error(nil)
				q.Strategy = retry.BestEffort(retry.BackoffOptions{Min: time.Second, Max: time.Second}) // the map ends its delay too
				if i%2 == 1 {
					q, want = w.increment(keyOf0), operation.ErrRequestCanceled
				}
				if err := w.runner.Run(context.Background(), 2500*ms, q, &r); !errors.Is(err, want) {
					t.Errorf("%s: %v", q.Name, err)
				}
				if d := time.Since(began); d > 310*ms {
					t.Errorf("%s ended after %v", q.Name, d)
				}
			})
		}
		callers.Wait()
		synctest.Wait()
		if n := w.nodes["a"].Conns(); n != 0 {
			t.Errorf("%d connections to the node that left", n)
		}
	})
}

// A node that leaves after a rebalance still answers what is on its way: not one operation may fail because of the move.
func TestANodeThatLeavesAnswersWhatIsOnItsWay(t *testing.T) {
	inWorld(t, func(host string, _ int, _ memd.Packet) (answer, bool) {
		if host == "a" {
			<-time.After(3 * ms)
			return answer{Status: memd.StatusConfigOnly}, true
		}
		return answer{}, true
	}, func(w *world) {
		<-time.After(5 * ms)
		w.ClearLog()
		without := newest(2)
		without.Hosts, without.VBuckets = []string{"b"}, [][]int{{0}, {0}}
		time.AfterFunc(2*ms, func() {
			w.SetMap(without)
			w.nodes["b"].Push(true)
		})
		if _, err := w.do(w.increment(keyOf0)); err != nil {
			t.Error(err)
		}
		equal(t, "requests", w.where(), "0s@a 3ms@b")
		<-time.After(ms)
		if n := w.nodes["a"].Conns(); n != 0 {
			t.Errorf("%d connections to the node that left", n)
		}
	})
}

// A node whose answers take long gets twice the longest time in which it answered of late. One that had no vbuckets any more gets a second.
func TestANodeThatLeavesMayBeSlow(t *testing.T) {
	const usual = 20 * ms
	for _, c := range []struct {
		drained     bool
		takes, ends time.Duration // from the moment in which the node leaves
		ok          bool
	}{
		{false, 2*usual - ms, 2*usual - ms, true},
		{false, 10 * usual, 2 * usual, false},
		{true, 999 * ms, 999 * ms, true},
		{true, 2 * time.Second, time.Second, false},
	} {
		var takes atomic.Int64
		takes.Store(int64(usual))
		inWorld(t, func(host string, _ int, _ memd.Packet) (answer, bool) {
			if host == "a" {
				<-time.After(time.Duration(takes.Load()))
			}
			return answer{}, true
		}, func(w *world) {
			if _, err := w.do(w.increment(keyOf0)); err != nil {
				t.Fatal(err)
			}
			takes.Store(int64(c.takes + ms))
			without := newest(2)
			without.Hosts, without.VBuckets = []string{"b"}, [][]int{{0}, {0}}
			began := time.Now().Add(ms)
			if c.drained {
				time.AfterFunc(ms/2, func() {
					moved := newest(2)
					moved.VBuckets = [][]int{{1}, {1}}
					w.SetMap(moved)
					w.nodes["b"].Push(true)
				})
				without.Revision = 3
			}
			time.AfterFunc(ms, func() {
				w.SetMap(without)
				w.nodes["b"].Push(true)
			})
			_, err := w.within(context.Background(), time.Minute, w.increment(keyOf0))
			if took := time.Since(began); (err == nil) != c.ok || took < c.ends || took > c.ends+ms {
				t.Errorf("%v after %v; want the end after %v", err, took, c.ends)
			}
			<-time.After(c.takes) // for the node's goroutine
		})
	}
}

// As long as answers come, the connection stays.
func TestANodeThatLeavesAnswersOneAfterTheOther(t *testing.T) {
	inWorld(t, func(host string, _ int, _ memd.Packet) (answer, bool) {
		if host == "a" {
			<-time.After(2 * ms)
		}
		return answer{}, true
	}, func(w *world) {
		without := newest(2)
		without.Hosts, without.VBuckets = []string{"b"}, [][]int{{0}, {0}}
		<-time.After(5 * ms)
		time.AfterFunc(ms, func() {
			w.SetMap(without)
			w.nodes["b"].Push(true)
		})
		began := time.Now()
		var callers sync.WaitGroup
		for range 5 {
			callers.Go(func() {
				var r operation.Result
				if err := w.runner.Run(context.Background(), time.Second, w.increment(keyOf0), &r); err != nil || r.Conn.Address() != "a:11210" {
					t.Error(err)
				}
			})
		}
		callers.Wait()
		if d := time.Since(began); d != 10*ms {
			t.Errorf("the last answer came after %v", d)
		}
		<-time.After(ms)
		if n := w.nodes["a"].Conns(); n != 0 {
			t.Errorf("%d connections to the node that left", n)
		}
	})
}

func TestADeadNodeIsFoundByAskingTheOthers(t *testing.T) {
	for _, dead := range []time.Duration{0, 6 * time.Second} { // before the operation begins
		t.Run(dead.String(), func(t *testing.T) {
			inWorld(t, nil, func(w *world) {
				<-time.After(5 * ms)
				w.nodes["a"].Stop()
				<-time.After(dead)
				time.AfterFunc(777*ms, func() { w.SetMap(moved(2)) }) // nobody pushes it
				w.ClearLog()
				if _, err := w.do(w.get(keyOf0)); err != nil {
					t.Fatal(err)
				}
				log := w.Log()
				if at := log[len(log)-1].After; at < 777*ms || at > 777*ms+60*ms {
					t.Errorf("the first success came after %v", at)
				}
				n := len(w.Fetches())
				<-time.After(time.Second)
				if more := len(w.Fetches()) - n; more > 2 { // a dial that fails asks too
					t.Errorf("%d fetches that nobody needs", more)
				}
				delete(w.nodes, "a")
			})
		})
	}
}

// A connection that is being made for the first time is no reason to ask for a map.
func TestWhileTheFirstConnectionIsMadeNoMapIsFetched(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		if _, err := w.do(w.increment(keyOf1)); err != nil {
			t.Fatal(err)
		}
		equal(t, "requests", w.where(), "20ms@b")
		if len(w.Fetches()) != 0 {
			t.Errorf("%v", w.Fetches())
		}
	}, func(w *world, c *cluster.Config, _ *operation.Config) {
		c.KV.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			if address == "b:11210" {
				<-time.After(20 * ms)
			}
			return w.DialContext(ctx, network, address)
		}
	})
}
