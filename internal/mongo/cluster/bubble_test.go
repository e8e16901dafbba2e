package cluster

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

const addrA, addrB, addrC = "a:27017", "b:27017", "c:27017"

var errDown = errors.New("the server is down")

// listener records a pool's events.
type listener struct {
	mu     sync.Mutex
	events []event.PoolEvent
	heard  chan struct{} // closed and replaced at each event
}

func newListener() *listener { return &listener{heard: make(chan struct{})} }

func (l *listener) monitor() *event.PoolMonitor {
	return &event.PoolMonitor{Event: func(e *event.PoolEvent) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.events = append(l.events, *e)
		close(l.heard)
		l.heard = make(chan struct{})
	}}
}

func (l *listener) all() ([]event.PoolEvent, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.events[:len(l.events):len(l.events)], l.heard
}

// types returns the types of the events, without those to ignore.
func (l *listener) types(ignore ...string) []string {
	var types []string
	events, _ := l.all()
	for _, e := range events {
		if !contains(ignore, e.Type) {
			types = append(types, e.Type)
		}
	}
	return types
}

func contains(list []string, s string) bool {
	for _, have := range list {
		if have == s {
			return true
		}
	}
	return false
}

// start starts a cluster on the network. Its seed is addrA unless edit changes it.
func start(t *testing.T, n network, edit func(*Config)) *Cluster {
	t.Helper()
	cfg := Config{Dialer: n, Topology: topology.Config{Seeds: []string{addrA}}}
	if edit != nil {
		edit(&cfg)
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// bare returns the server of a cluster that has no monitor. The test itself applies the results of checks.
func bare(t *testing.T, p *peer, edit func(*Config)) *Server {
	t.Helper()
	cfg := Config{Dialer: network{addrA: p}, Topology: topology.Config{Seeds: []string{addrA}}}
	if edit != nil {
		edit(&cfg)
	}
	return bareOn(t, cfg)
}

func bareOn(t testing.TB, cfg Config) *Server {
	t.Helper()
	cfg.setDefaults()
	description, err := topology.New(cfg.Topology)
	if err != nil {
		t.Fatal(err)
	}
	address := description.Servers[0].Address
	c := newCluster(cfg)
	s := newServer(c, address)
	s.stop = func() {}
	c.servers[address] = s
	c.mu.Lock()
	created := s.pool.created()
	after, _ := c.publish(description) // the server exists, so no monitor starts
	c.mu.Unlock()
	created.run()
	after.run()
	t.Cleanup(c.Close)
	return s
}

// selected waits until all goroutines are blocked, then selects a server for writes. The first checks are done by
// then, so the selection requests none.
func selected(t *testing.T, c *Cluster) *Server {
	t.Helper()
	synctest.Wait()
	return selectedNow(t, c)
}

// selectedNow selects a server for writes.
func selectedNow(t *testing.T, c *Cluster) *Server {
	t.Helper()
	target, err := c.Select(t.Context(), &topology.Selection{Write: true})
	if err != nil {
		t.Fatal(err)
	}
	return target.Server
}

func checkOut(t *testing.T, s *Server) *Conn {
	t.Helper()
	c, err := s.CheckOut(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func ping(ctx context.Context, c *Conn) error {
	at, b := wire.BeginMsg(c.Out[:0], 7, 0, 0)
	doc, b := wire.BeginDocument(b)
	b = wire.AppendInt32(b, "ping", 1)
	b = wire.AppendString(b, "$db", "admin")
	c.Out = wire.EndMessage(wire.EndDocument(b, doc), at)
	_, err := c.RoundTrip(ctx, c.Out, 7)
	return err
}

// operation makes one operation on a server: checkout, ping, check in. It returns the first error.
func operation(ctx context.Context, s *Server) error {
	c, err := s.CheckOut(ctx, nil)
	if err != nil {
		return err
	}
	defer s.CheckIn(c)
	return ping(ctx, c)
}

// async runs f in a goroutine and returns a channel for its result.
func async[T any](f func() T) <-chan T {
	result := make(chan T, 1)
	go func() { result <- f() }()
	return result
}

// settled returns the result of a function that must have returned by now.
func settled[T any](t *testing.T, what string, result <-chan T) T {
	t.Helper()
	synctest.Wait()
	select {
	case r := <-result:
		return r
	default:
		t.Fatalf("%s has not ended", what)
		panic("unreachable")
	}
}

// unsettled fails if the function has returned.
func unsettled[T any](t *testing.T, what string, result <-chan T) {
	t.Helper()
	synctest.Wait()
	select {
	case r := <-result:
		t.Fatalf("%s ended: %v", what, r)
	default:
	}
}

// pass advances the fake clock by d.
func pass(t *testing.T, d time.Duration) {
	t.Helper()
	sleep(context.WithoutCancel(t.Context()), d, nil)
	synctest.Wait()
}

func kindOf(c *Cluster, address string) topology.ServerType {
	if d := c.Snapshot().Description.Server(address); d != nil {
		return d.Type
	}
	return topology.Unknown
}

// found applies a successful check with this reply to hello, which makes the pool ready.
func found(t testing.TB, s *Server, hello bson.D) {
	t.Helper()
	doc, err := bson.Marshal(append(bson.D{{Key: "ok", Value: 1}}, hello...))
	if err != nil {
		t.Fatal(err)
	}
	d, err := described(s.address, doc)
	if err != nil {
		t.Fatal(err)
	}
	d.RTT, d.HasRTT = time.Millisecond, true
	s.cluster.checkSucceeded(s, d)
}

// counters fails unless the pool has these numbers of connections: in total, idle and pending.
func counters(t testing.TB, s *Server, total uint64, idle, pending int) {
	t.Helper()
	p := &s.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.total != total || p.idleConns() != idle || len(p.pending) != pending {
		t.Errorf("the pool has %d connections, %d idle, %d pending; want %d, %d, %d",
			p.total, p.idleConns(), len(p.pending), total, idle, pending)
	}
	if len(p.open)+len(p.pending) != int(p.total) {
		t.Errorf("%d open and %d pending connections are not %d", len(p.open), len(p.pending), p.total)
	}
}
