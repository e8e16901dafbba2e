package cluster

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

var write = &topology.Selection{Write: true}

func TestASelectionWaitsForTheTopology(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: standalone(), script: func(*question) bool { return !sleep(t.Context(), time.Second, nil) }}
		c := start(t, network{addrA: p}, nil)
		began := time.Now()
		s := selected(t, c)
		if s.Address() != addrA || time.Since(began) != time.Second {
			t.Errorf("%s was selected after %v", s.Address(), time.Since(began))
		}
	})
}

// Server Selection, "Multi-threaded or asynchronous server selection": "the client MUST NOT block server selection while waiting for
// server discovery to finish."
func TestASelectionDoesNotWaitForTheOtherServers(t *testing.T) {
	for _, c := range []struct {
		name      string
		preferred *readpref.ReadPref
		waits     bool
	}{
		{"primaryPreferred takes a secondary, although the primary is not found yet", readpref.PrimaryPreferred(), false},
		{"nearest takes the only member that has answered", readpref.Nearest(), false},
		{"primary waits", readpref.Primary(), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				silent := &peer{hello: member(true, addrA, addrB)}
				silent.hang()
				cluster := start(t, network{addrA: {hello: member(false, addrA, addrB)}, addrB: silent}, nil)
				began := time.Now()
				selecting := async(func() time.Duration {
					_, _ = cluster.Select(t.Context(), &topology.Selection{ReadPref: c.preferred})
					return time.Since(began)
				})
				if c.waits {
					unsettled(t, "the selection", selecting)
				} else if took := settled(t, "the selection", selecting); took != 0 {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

func TestASelectionRequestsChecks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: standalone()}
		p.down(errDown)
		c := start(t, network{addrA: p}, nil)
		synctest.Wait()
		time.AfterFunc(1200*time.Millisecond, func() { p.set(func(p *peer) { p.dial = nil }) })
		began := time.Now()
		selected(t, c)
		if took := time.Since(began); took != 3*MinHeartbeatInterval {
			t.Errorf("the server was found after %v", took)
		}
	})
}

func TestTheErrorOfASelectionWithoutAServer(t *testing.T) {
	for _, c := range []struct {
		name  string
		end   func(context.Context, *Cluster) context.Context
		after time.Duration
		want  error
	}{
		{
			"ends after the server selection timeout",
			func(ctx context.Context, _ *Cluster) context.Context { return ctx },
			30 * time.Second, ErrSelectionTimeout,
		},
		{
			"matches context.DeadlineExceeded after the server selection timeout",
			func(ctx context.Context, _ *Cluster) context.Context { return ctx },
			30 * time.Second, context.DeadlineExceeded,
		},
		{
			"ends with its context, at its deadline",
			func(ctx context.Context, _ *Cluster) context.Context {
				ctx, cancel := context.WithTimeout(ctx, time.Second)
				context.AfterFunc(ctx, cancel)
				return ctx
			},
			time.Second, context.DeadlineExceeded,
		},
		{
			"ends with its context, when it is cancelled",
			func(ctx context.Context, _ *Cluster) context.Context {
				ctx, cancel := context.WithCancel(ctx)
				time.AfterFunc(time.Second, cancel)
				return ctx
			},
			time.Second, context.Canceled,
		},
		{
			"is ended by Close",
			func(ctx context.Context, c *Cluster) context.Context {
				time.AfterFunc(time.Second, c.Close)
				return ctx
			},
			time.Second, ErrPoolClosed,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &peer{hello: member(false, addrA)}
				cluster := start(t, network{addrA: p}, nil)
				began := time.Now()
				_, err := cluster.Select(c.end(t.Context(), cluster), write)
				var failed *SelectionError
				if !errors.As(err, &failed) || !errors.Is(err, c.want) || time.Since(began) != c.after {
					t.Fatalf("after %v: %v", time.Since(began), err)
				}
				for _, part := range []string{
					"server selection error: ", "No replica set primary available", "a:27017 RSSecondary",
				} {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("%q does not say %q", err, part)
					}
				}
			})
		})
	}
}

func TestAnImpossibleSelectionFailsImmediately(t *testing.T) {
	stale, err := readpref.New(readpref.SecondaryMode, readpref.WithMaxStaleness(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		hello bson.D
		want  *topology.Selection
		says  string
	}{
		{"because the server is too old", wireVersion(5), write, "no server can be used"},
		{
			"because the staleness is too small", member(true, addrA),
			&topology.Selection{ReadPref: stale, HeartbeatInterval: 10 * time.Second}, "the read preference cannot be met",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cluster := start(t, network{addrA: {hello: c.hello}}, nil)
				synctest.Wait()
				began := time.Now()
				_, err := cluster.Select(t.Context(), c.want)
				if err == nil || !strings.Contains(err.Error(), c.says) || time.Since(began) != 0 {
					t.Errorf("after %v: %v", time.Since(began), err)
				}
			})
		})
	}
}

func elected(primary bool, election byte, hosts ...string) bson.D {
	return append(member(primary, hosts...),
		bson.E{Key: "electionId", Value: bson.ObjectID{election}}, bson.E{Key: "setVersion", Value: 1})
}

func TestAStalePrimaryIsCheckedImmediately(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &peer{hello: elected(true, 1, addrA, addrB)}
		b := &peer{hello: member(false, addrA, addrB)}
		c := start(t, network{addrA: a, addrB: b}, nil)
		selected(t, c)
		pass(t, time.Second)
		generation := c.servers[addrA].pool.generation(bson.NilObjectID)
		// A handshake with the new primary shows the next election, long before the heartbeats.
		b.set(func(p *peer) { p.hello = elected(true, 2, addrA, addrB) })
		a.set(func(p *peer) { p.hello = member(false, addrA, addrB) })
		if err := operation(t.Context(), c.servers[addrB]); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		a.wantHellos(t, 2)
		if kindOf(c, addrA) != topology.RSSecondary || kindOf(c, addrB) != topology.RSPrimary {
			t.Errorf("a is %v, b is %v", kindOf(c, addrA), kindOf(c, addrB))
		}
		if c.servers[addrA].pool.generation(bson.NilObjectID) != generation {
			t.Error("the pool of the former primary was cleared")
		}
	})
}

func TestTheMonitorAndPoolOfARemovedServerAreStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := network{
			addrA: {hello: member(true, addrA, addrB)}, addrB: {hello: member(false, addrA, addrB)},
			addrC: {hello: member(false, addrA, addrC)},
		}
		c := start(t, set, nil)
		selected(t, c)
		synctest.Wait()
		b := c.servers[addrB]
		used, idle := checkOut(t, b), checkOut(t, b)
		b.CheckIn(idle)
		set[addrA].set(func(p *peer) { p.hello = member(true, addrA, addrC) })
		pass(t, c.cfg.HeartbeatInterval)
		asked := set[addrB].hellos()
		if _, err := b.CheckOut(t.Context(), nil); !errors.Is(err, ErrPoolClosed) {
			t.Errorf("a checkout from the removed server: %v", err)
		}
		if err := ping(t.Context(), used); err != nil {
			t.Errorf("the operation in flight: %v", err)
		}
		if c.Snapshot().Description.Server(addrB) != nil || kindOf(c, addrC) != topology.RSSecondary {
			t.Error("the topology does not have the primary's members")
		}
		b.CheckIn(used)
		counters(t, b, 0, 0, 0)
		pass(t, time.Minute)
		set[addrB].wantHellos(t, asked)
	})
}

func TestWaitForChangeEndsAtANewerSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bare(t, &peer{hello: standalone()}, nil)
		snapshot := s.cluster.Snapshot()
		began := time.Now()
		_ = s.cluster.WaitForChange(t.Context(), snapshot, time.Second)
		if time.Since(began) != time.Second {
			t.Errorf("it waited %v", time.Since(began))
		}
		time.AfterFunc(time.Second, func() { found(t, s, standalone()) })
		_ = s.cluster.WaitForChange(t.Context(), snapshot, time.Minute)
		if time.Since(began) != 2*time.Second || s.cluster.Snapshot() == snapshot {
			t.Errorf("it waited %v in all", time.Since(began))
		}
		if snapshot.Server(s.cluster.Snapshot().Description.Servers[0]) != nil {
			t.Error("a snapshot returns a server of the next one")
		}
	})
}
