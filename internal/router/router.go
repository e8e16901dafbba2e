package router

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/base/pause"
	"github.com/holdfast-db/holdfast/internal/base/rawsocket"
	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/unwrap"
	"github.com/holdfast-db/holdfast/mongo"
)

// Router serves clients. It is safe for concurrent use.
type Router struct {
	cfg          Config
	window       topology.Selection // the latency window and the heartbeat of all selections
	upstream     *mongo.Client
	runner       *operation.Runner
	cursors      cursors
	transactions transactions
	waiting      waiting
	strangers    waiting // their operations that wait
	awaiting     *awaiting
	memory       memory
	process      bson.ObjectID // of the topologyVersion in hello
	quiesce      quiesce
	accounts     accounts // nil: clients do not log in
	kinds        kinds
	ids          atomic.Int32          // requestIDs of replies
	looks        atomic.Int64          // at the clients, for those that have left or stalled
	wire         atomic.Int32          // the last maxWireVersion that a hello had
	balanced     atomic.Bool           // a load-balanced client was here
	departing    atomic.Bool           // load-balanced connections end when they may
	ending       atomic.Bool           // so do all, whatever they have open
	sessions     atomic.Pointer[int64] // the last logicalSessionTimeoutMinutes

	ctx context.Context //nolint:containedctx // that of all operations: it ends with the router, later than any call
	end context.CancelFunc

	mu        sync.Mutex
	closed    bool
	listeners map[net.Listener]struct{}
	clients   map[*client]struct{}
	lastID    int64
	serving   sync.WaitGroup
}

// ErrClosed is the error of [Router.Serve] after [Router.Shutdown] or [Router.Close].
var ErrClosed = errors.New("router: it is closed")

// New returns a router, and begins to connect to the members. It returns an error for a wrong configuration only. The caller must call
// Close.
func New(cfg Config) (*Router, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	o := cfg.upstream()
	opened, err := unwrap.Connect(mongo.Config{Tracer: cfg.Tracer}, o, rawsocket.Of)
	if err != nil {
		return nil, err
	}
	upstream := opened.(*mongo.Client)
	r := &Router{
		cfg: cfg, upstream: upstream, runner: unwrap.Runner(upstream), process: bson.NewObjectID(),
		window: topology.Selection{
			LocalThreshold: valueOr(o.LocalThreshold, defaultLocalThreshold), HeartbeatInterval: valueOr(o.HeartbeatInterval, defaultHeartbeat),
		},
		listeners: make(map[net.Listener]struct{}), clients: make(map[*client]struct{}),
	}
	r.awaiting = newAwaiting(valueOr(o.MaxPoolSize, defaultMaxPool))
	r.memory = newMemory(cfg.MemoryBytes, valueOr(o.MaxPoolSize, defaultMaxPool), cfg.Window)
	r.cursors.most, r.cursors.life = mostCursors, cursorLife
	r.transactions.most, r.transactions.life = mostTransactions, transactionLife
	r.waiting.most, r.waiting.mostBytes = cfg.MostWaiting, cfg.WaitingBytes
	r.strangers.most, r.strangers.mostBytes = mostStrangersWait, mostStrangersWait*maxBeforeLogin
	r.accounts = cfg.accounts(r)
	r.quiesce.began = make(chan struct{})
	r.ctx, r.end = context.WithCancel(cluster.LateLast(context.Background()))
	r.looks.Store(1)
	r.serving.Add(1)
	go r.watchClients()
	return r, nil
}

// Serve accepts clients until the listener or the router is closed. It closes the listener. The error is never nil.
func (r *Router) Serve(l net.Listener) error {
	defer l.Close()
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return ErrClosed
	}
	r.listeners[l] = struct{}{}
	r.mu.Unlock()
	defer r.forgetListener(l)
	for {
		conn, err := l.Accept()
		switch {
		case err == nil:
			r.begin(rawsocket.Of(conn))
		case r.ctx.Err() != nil:
			return ErrClosed
		case temporary(err):
			_ = pause.For(r.ctx, acceptPause) // Accept tells of the end
		default:
			return err
		}
	}
}

func (r *Router) forgetListener(l net.Listener) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.listeners, l)
}

// acceptPause is how long no client is accepted after an accept failed, perhaps because there are too many files.
const acceptPause = 10 * time.Millisecond

func temporary(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Temporary() //nolint:staticcheck // that is what package net says of too many files
}

// begin serves a client on a goroutine of its own, if there is a place for it.
func (r *Router) begin(conn net.Conn) {
	c, refused := r.admit(conn)
	if c == nil {
		_ = conn.Close()
		if refused != "" {
			r.cfg.Refused(conn.RemoteAddr(), refused)
		}
		return
	}
	go func() { // admit has counted it among those that are served
		defer r.serving.Done()
		c.serve()
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.clients, c)
	}()
}

// admit notes a client. It returns nil if there is no place for it, and the reason if the router has not ended.
func (r *Router) admit(conn net.Conn) (c *client, refused string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return nil, ""
	case len(r.clients) >= r.cfg.MostClients:
		return nil, fmt.Sprintf("one too many: at most %d may be connected", r.cfg.MostClients)
	}
	r.lastID++
	c = newClient(r, conn, r.lastID)
	r.clients[c] = struct{}{}
	r.serving.Add(1)
	return c, ""
}

// Close ends all connections, the operations that run, and the client of the members.
func (r *Router) Close() {
	r.quiesce.begin()
	r.end()
	r.mu.Lock()
	r.closed = true
	for l := range r.listeners {
		_ = l.Close()
	}
	for c := range r.clients {
		_ = c.socket.Close()
	}
	r.mu.Unlock()
	r.serving.Wait()
	_ = r.upstream.Disconnect(context.Background())
}

// Clients returns the number of clients that are connected.
func (r *Router) Clients() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.clients)
}

// used reports whether there was a client.
func (r *Router) used() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lastID > 0
}

// Waiting returns the number of operations that wait for a member.
func (r *Router) Waiting() int { return r.waiting.count() + r.strangers.count() }
