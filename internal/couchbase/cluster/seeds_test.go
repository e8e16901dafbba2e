package cluster_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/cluster"
	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
	"github.com/holdfast-db/holdfast/internal/couchbase/nodescript"
	"github.com/holdfast-db/holdfast/retry"
)

func TestTheSeedsAreTriedOneAfterTheOtherInOneShuffledOrder(t *testing.T) {
	inBubble(t, []string{"a", "b", "c"}, []nodescript.Map{alone("a", "b", "c")}, func(t *testing.T, r *rig) {
		r.config.Shuffle = func(_ int, swap func(i, j int)) { swap(0, 2) }
		r.nodes["c"].Refuse(true)
		r.nodes["b"].Refuse(true)
		r.nodes["a"].Refuse(true)
		c := r.open()
		defer c.Close()
		after(35 * ms) // rounds at 0, 10 and 30 ms
		want := strings.Fields("c:11210 b:11210 a:11210 c:11210 b:11210 a:11210 c:11210 b:11210 a:11210")
		if dials := r.Dials(); !slices.Equal(dials, want) {
			t.Errorf("dialled %q", dials)
		}
		if c.Err() == nil || c.Snapshot() != nil {
			t.Errorf("%v, %v", c.Err(), c.Snapshot())
		}
		r.nodes["b"].Refuse(false)
		after(50 * ms)
		if c.Err() != nil || c.Snapshot() == nil {
			t.Errorf("%v, %v", c.Err(), c.Snapshot())
		}
	})
}

func TestTheFirstMapReplacesTheSeeds(t *testing.T) {
	inBubble(t, []string{"a", "b"}, []nodescript.Map{alone("b"), {Revision: 1, Bucket: "bucket", Hosts: []string{"b"}, VBuckets: [][]int{{0}}}}, func(t *testing.T, r *rig) {
		r.config.Seeds = r.config.Seeds[:1] // a, which is not in the map
		c := r.open()
		defer c.Close()
		b := c.Bucket("bucket")
		after(5 * ms)
		if s := b.Snapshot(); len(s.Endpoints) != 1 || s.Endpoints[0].Address() != "b:11210" || s.Endpoints[0].Conn() == nil {
			t.Fatalf("%+v", s)
		}
		if r.nodes["a"].Conns() != 0 {
			t.Error("the connection to the seed is still there")
		}
	})
}

func TestAServiceRecordNamesTheSeeds(t *testing.T) {
	for _, c := range []struct {
		name     string
		resolved []string
		err      error
		first    string
	}{
		{"the records replace the seeds", []string{"b:11210"}, nil, "b:11210"},
		{"no record means the host itself", nil, nil, "a:11210"},
		{"an error means the host itself", nil, errors.New("no such name"), "a:11210"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, []string{"a", "b"}, []nodescript.Map{alone("a", "b")}, func(t *testing.T, r *rig) {
				r.config.SRV = "_couchbase._tcp.a"
				r.config.Resolve = func(_ context.Context, name string) ([]string, error) {
					if name != r.config.SRV {
						t.Errorf("resolved %q", name)
					}
					return c.resolved, c.err
				}
				cl := r.open()
				defer cl.Close()
				synctest.Wait()
				if dials := r.Dials(); len(dials) != 1 || dials[0] != c.first {
					t.Errorf("dialled %q", dials)
				}
			})
		})
	}
}

func TestAResolverThatPanics(t *testing.T) {
	inBubble(t, []string{"a"}, []nodescript.Map{alone("a")}, func(t *testing.T, r *rig) {
		r.config.SRV = "_couchbase._tcp.a"
		r.config.Resolve = func(context.Context, string) ([]string, error) { panic("mine") }
		c := r.open()
		defer c.Close()
		synctest.Wait()
		if c.Snapshot() == nil {
			t.Error("the seeds were not used")
		}
	})
}

// When no node of the map answers, the record is resolved again.
func TestTheRecordIsResolvedAgainWhenNoNodeAnswers(t *testing.T) {
	inBubble(t, []string{"a", "b"}, []nodescript.Map{only(1)}, func(t *testing.T, r *rig) {
		at := []string{"a:11210"}
		r.config.SRV = "_couchbase._tcp.a"
		r.config.Resolve = func(context.Context, string) ([]string, error) { return at, nil }
		c := r.open()
		defer c.Close()
		b := c.Bucket("bucket")
		after(5 * ms)
		at = []string{"b:11210"}
		m := only(2)
		m.Hosts = []string{"b"}
		r.SetMap(m)
		r.nodes["a"].Stop()
		after(3 * time.Second) // the poll finds nobody
		if s := b.Snapshot(); s.Map.Version.Revision != 2 || s.Endpoints[0].Conn() == nil {
			t.Errorf("%+v", s)
		}
		delete(r.nodes, "a")
	})
}

func TestTheNetwork(t *testing.T) {
	for _, c := range []struct {
		name, network, seed, want string
	}{
		{"auto: the default one, if a node has the seed's address there", "auto", "a:11210", "default"},
		{"auto: the alternate one, if a node has it there", "", "ext-a:11210", "external"},
		{"the default one", "default", "ext-a:11210", "default"},
		{"the alternate one", "external", "a:11210", "external"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := only(1)
			m.External = []string{"ext-a"}
			inBubble(t, []string{"a", "ext-a"}, []nodescript.Map{m}, func(t *testing.T, r *rig) {
				r.config.Seeds, r.config.Network = []string{c.seed}, c.network
				cl := r.open()
				defer cl.Close()
				b := cl.Bucket("bucket")
				after(5 * ms)
				want := map[string]string{"default": "a:11210", "external": "ext-a:11210"}[c.want]
				if s := b.Snapshot(); s.Network != c.want || s.Endpoints[0].Address() != want || s.Endpoints[0].Conn() == nil {
					t.Errorf("%s %s", s.Network, s.Endpoints[0].Address())
				}
			})
		})
	}
}

func TestAFurtherBucketHasConnectionsOfItsOwn(t *testing.T) {
	other := only(7)
	other.Bucket = "other"
	inBubble(t, []string{"a"}, []nodescript.Map{only(1), other}, func(t *testing.T, r *rig) {
		c := r.open()
		defer c.Close()
		first, second := c.Bucket("bucket"), c.Bucket("other")
		synctest.Wait()
		if first.Snapshot().Map.Bucket != "bucket" || second.Snapshot().Map.Bucket != "other" || r.nodes["a"].Conns() != 2 {
			t.Errorf("%d connections", r.nodes["a"].Conns())
		}
		if c.Snapshot() != second.Snapshot() {
			t.Error("the newest map of all buckets is that of the cluster")
		}
	})
}

func TestTheConnectionWithoutABucketIsMadeAgain(t *testing.T) {
	inBubble(t, []string{"a", "b"}, []nodescript.Map{alone("a", "b"), two(1)}, func(t *testing.T, r *rig) {
		c := r.open()
		defer c.Close()
		after(5 * ms)
		r.nodes["a"].Refuse(true)
		r.nodes["a"].Cut()
		after(50 * ms)
		if r.nodes["b"].Conns() != 1 || r.nodes["a"].Conns() != 0 {
			t.Fatalf("dialled %q", r.Dials())
		}
		b := c.Bucket("bucket")
		synctest.Wait()
		if b.Snapshot() == nil {
			t.Error(b.Err())
		}
	})
}

func TestABucketTakesNoMapOfAnotherOne(t *testing.T) {
	other := only(7)
	other.Bucket = "other"
	inBubble(t, []string{"a"}, []nodescript.Map{alone("a")}, func(t *testing.T, r *rig) {
		r.nodes["a"].Change(func() { r.nodes["a"].Missing = []string{"bucket"} })
		c := r.open()
		defer c.Close()
		b := c.Bucket("bucket")
		synctest.Wait()
		for _, body := range [][]byte{other.JSON(), []byte("{")} {
			for range 2 { // a second time too, although each map is read once
				if b.Learn(body, "a:11210") || b.Snapshot() != nil {
					t.Errorf("it took %s", body)
				}
			}
		}
	})
}

func TestABucketThatIsOpenedAfterClose(t *testing.T) {
	for _, before := range []int{0, 1} {
		inBubble(t, []string{"a"}, []nodescript.Map{alone("a"), only(1)}, func(t *testing.T, r *rig) {
			c := r.open()
			if before > 0 {
				c.Bucket("bucket")
			}
			c.Close()
			r.ClearLog()
			b := c.Bucket("other")
			after(time.Minute)
			if err, news := b.Opening(); !errors.Is(err, cluster.ErrClosed) || !ended(news) || len(r.Dials()) != 0 {
				t.Errorf("%v, dialled %q", err, r.Dials())
			}
		})
	}
}

func TestAWrongPasswordIsSaidAlsoIfOtherSeedsDoNotAnswer(t *testing.T) {
	inBubble(t, []string{"a", "b"}, []nodescript.Map{alone("a", "b")}, func(t *testing.T, r *rig) {
		r.nodes["a"].Change(func() { r.nodes["a"].Password = "right" })
		r.nodes["b"].Refuse(true)
		login, err := kv.NewLogin(kv.Credential{Username: "user", Password: "wrong", AllowPlain: true, Mechanisms: []string{kv.Plain}})
		if err != nil {
			t.Fatal(err)
		}
		r.config.KV.Login = login
		c := r.open()
		defer c.Close()
		news := c.Newer(nil)
		synctest.Wait()
		if !ended(news) || ended(c.Newer(nil)) {
			t.Error("who waits for a map of the cluster is woken")
		}
		for range 20 {
			after(7 * ms)
			if !errors.Is(c.Err(), kv.ErrBadCredentials) {
				t.Fatal(c.Err())
			}
		}
	})
}

// withHole makes the dial to one address wait for ever.
func (r *rig) withHole(hole string) {
	dial := r.config.KV.Dial
	r.config.KV.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if address == hole {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return dial(ctx, network, address)
	}
}

func TestANodeThatDoesNotAnswerDoesNotHoldTheOtherSeedsUp(t *testing.T) {
	inBubble(t, []string{"b"}, []nodescript.Map{alone("b")}, func(t *testing.T, r *rig) {
		r.config.Seeds = []string{"hole:11210", "hole:11210", "b:11210"}
		r.config.KV.Timeout = 0
		r.withHole("hole:11210")
		c := r.open()
		defer c.Close()
		after(999 * ms)
		if c.Snapshot() != nil {
			t.Error("the third seed was tried before the others had half a second each")
		}
		after(2 * ms)
		if c.Snapshot() == nil {
			t.Error(c.Err())
		}
	})
}

// A dead node does not hide that another one refuses the login, whichever is tried first: in the first round, and in the later ones.
func TestADeadSeedDoesNotHideAWrongPassword(t *testing.T) {
	type seeds = []string
	for name, order := range map[string]seeds{
		"a hole first": {"hole:11210", "a:11210"}, "a hole last": {"a:11210", "hole:11210"},
		"a refusal first": {"dead:11210", "a:11210"}, "a refusal last": {"a:11210", "dead:11210"},
	} {
		inBubble(t, []string{"a"}, []nodescript.Map{alone("a")}, func(t *testing.T, r *rig) {
			r.nodes["a"].Change(func() { r.nodes["a"].Password = "right" })
			login, err := kv.NewLogin(kv.Credential{Username: "user", Password: "wrong", AllowPlain: true, Mechanisms: []string{kv.Plain}})
			if err != nil {
				t.Fatal(err)
			}
			r.config.KV.Login, r.config.Seeds = login, order
			r.withHole("hole:11210")
			dial := r.config.KV.Dial
			r.config.KV.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				if address == "a:11210" {
					<-time.After(50 * ms) // so a dead node fails before this one refuses
				}
				return dial(ctx, network, address)
			}
			c := r.open()
			defer c.Close()
			after(551 * ms)
			for began := time.Now(); time.Since(began) < 20*time.Second; after(97 * ms) {
				if !errors.Is(c.Err(), kv.ErrBadCredentials) {
					t.Fatalf("%s: %v", name, c.Err())
				}
			}
			r.nodes["a"].Change(func() { r.nodes["a"].Password = "wrong" })
			after(11 * time.Second)
			if c.Snapshot() == nil {
				t.Errorf("%s: the password is right now, but %v", name, c.Err())
			}
		})
	}
}

func TestCloseWaitsForWhatRuns(t *testing.T) {
	inBubble(t, []string{"a"}, nil, func(t *testing.T, r *rig) {
		dialling := false
		r.config.KV.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
			dialling = true
			<-ctx.Done()
			<-time.After(10 * ms) // the dialer is slow to give up
			dialling = false
			return nil, ctx.Err()
		}
		c := r.open()
		synctest.Wait()
		if !dialling {
			t.Error("nobody dials")
		}
		c.Close()
		if dialling {
			t.Error("a dial still runs after Close")
		}
		c.Close() // twice does no harm
	})
}

// Old servers have no map of the cluster alone.
func TestAServerWithoutAMapOfTheClusterAlone(t *testing.T) {
	inBubble(t, []string{"a"}, []nodescript.Map{only(1)}, func(t *testing.T, r *rig) {
		c := r.open()
		defer c.Close()
		synctest.Wait()
		if c.Snapshot() != nil || c.Err() != nil {
			t.Fatalf("%v %v", c.Snapshot(), c.Err())
		}
		b := c.Bucket("bucket")
		synctest.Wait()
		if b.Snapshot() == nil || len(r.Dials()) != 1 {
			t.Errorf("%v, dialled %q", b.Err(), r.Dials())
		}
	})
}

func TestOpenRefusesBadSettings(t *testing.T) {
	for name, c := range map[string]cluster.Config{
		"no seeds":             {},
		"breaker without size": {Seeds: []string{"a:1"}, Breaker: &cluster.Breaker{Options: retry.BreakerOptions{}}},
		"negative timeout":     {Seeds: []string{"a:1"}, PollTimeout: -1},
		"negative probe time":  {Seeds: []string{"a:1"}, Breaker: &cluster.Breaker{Options: *retry.DefaultBreakerOptions(), ProbeTimeout: -1}},
	} {
		if _, err := cluster.Open(c); err == nil || !strings.HasPrefix(err.Error(), "cluster: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
