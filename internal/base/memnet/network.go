package memnet

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/pause"
)

// Config says how a network behaves. The zero value is a network without latency.
type Config struct {
	// MinLatency and MaxLatency bound the time that a dial takes, and that written bytes need to arrive: for each dial and
	// each write a random time between them. The bytes of one connection keep their order. New panics unless
	// 0 <= MinLatency <= MaxLatency.
	MinLatency, MaxLatency time.Duration
	// Seed is what the random times are made from.
	Seed uint64
}

// Network connects dialers with listeners.
type Network struct {
	config      Config
	unprocessed atomic.Int64 // see Unprocessed

	mu        sync.Mutex
	random    *rand.Rand
	listeners map[string]*Listener // by address, closed ones too
	dialled   int
}

// New returns a network on which nobody listens.
func New(c Config) *Network {
	if c.MinLatency < 0 || c.MaxLatency < c.MinLatency {
		panic(fmt.Sprintf("memnet: latency from %v to %v", c.MinLatency, c.MaxLatency))
	}
	return &Network{config: c, random: rand.New(rand.NewPCG(c.Seed, 0)), listeners: make(map[string]*Listener)}
}

// Listen returns a listener at an address, "host:port". The error matches syscall.EADDRINUSE if there is one already.
func (n *Network) Listen(address string) (*Listener, error) { return n.ListenFar(address, 0) }

// ListenFar is Listen for a server that is farther away than others: dials to it take, and bytes in each direction need, that much longer.
func (n *Network) ListenFar(address string, farther time.Duration) (*Listener, error) {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, failed("listen", networkName, address, err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if l := n.listeners[address]; l != nil && !l.isClosed() {
		return nil, failed("listen", networkName, address, syscall.EADDRINUSE)
	}
	l := newListener(Addr(address))
	l.farther = farther
	n.listeners[address] = l
	return l, nil
}

// DialContext connects to the listener at an address. The name of the network is only used in errors: a *net.DNSError for
// an address at which nobody ever listened, syscall.ECONNREFUSED for a listener that is closed or refuses, and the cause
// of ctx's end.
func (n *Network) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	n.mu.Lock()
	l := n.listeners[address]
	n.mu.Unlock()
	if l == nil {
		return nil, failed("dial", network, address, &net.DNSError{Err: "no such host", Name: address, IsNotFound: true})
	}
	if err := pause.For(ctx, n.latency()+l.farther); err != nil {
		return nil, failed("dial", network, address, err)
	}
	client, server := n.connect(l)
	if !l.offer(server) {
		return nil, failed("dial", network, address, syscall.ECONNREFUSED)
	}
	return client, nil
}

// Unprocessed returns how many bytes dialled connections have written that the accepting side has neither reported with
// [Conn.Processed] nor dropped by closing its end.
func (n *Network) Unprocessed() int64 { return n.unprocessed.Load() }

// connect returns the two ends of a new connection to a listener, the dialled one first.
func (n *Network) connect(l *Listener) (client, server *Conn) {
	n.mu.Lock()
	n.dialled++
	port := 1024 + n.dialled%(1<<16-1024)
	n.mu.Unlock()
	latency := n.latency
	if l.farther > 0 {
		latency = func() time.Duration { return n.latency() + l.farther }
	}
	client, server = newPair(Addr(fmt.Sprintf("client:%d", port)), l.address, latency)
	server.in.unprocessed = &n.unprocessed
	return client, server
}

// latency returns how long the next bytes travel.
func (n *Network) latency() time.Duration {
	if n.config.MaxLatency == 0 {
		return 0
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.config.MinLatency + time.Duration(n.random.Int64N(int64(n.config.MaxLatency-n.config.MinLatency)+1))
}

func failed(op, network, address string, err error) error {
	return &net.OpError{Op: op, Net: network, Addr: Addr(address), Err: err}
}
