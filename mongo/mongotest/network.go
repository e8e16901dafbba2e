package mongotest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// memNetwork is the in-memory network: virtual hosts, no sockets.
type memNetwork struct {
	latencyMin, latencyMax time.Duration
	uncounted              bool // there is TLS

	mu     sync.Mutex
	random *rand.Rand
	ports  int

	unread atomic.Int64 // bytes from clients that no server has dealt with
}

func newMemNetwork(c *config) *memNetwork {
	return &memNetwork{
		latencyMin: c.latencyMin, latencyMax: c.latencyMax, uncounted: c.tls,
		random: rand.New(rand.NewPCG(uint64(c.seed), 0)),
	}
}

// delay returns how long the next bytes travel.
func (n *memNetwork) delay() time.Duration {
	if n.latencyMax == 0 {
		return 0
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.latencyMin + time.Duration(n.random.Int64N(int64(n.latencyMax-n.latencyMin)+1))
}

// connect returns the two ends of a new connection to addr.
func (n *memNetwork) connect(addr string) (*memConn, *memConn) {
	n.mu.Lock()
	n.ports++
	local := memAddr(fmt.Sprintf("client.mongotest:%d", 30000+n.ports))
	n.mu.Unlock()
	client, server := newPipe(local, memAddr(addr), n.delay)
	if !n.uncounted {
		server.in.count = &n.unread
	}
	return client, server
}

// Dialer connects clients to the members of one replica set, or to one pipe. It is safe for concurrent use.
type Dialer struct {
	dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// DialContext connects to a server by the address that Addr and hello give. A member that was killed refuses; one that is
// isolated leaves the dial waiting until ctx ends or it is healed. On TCP any other address is dialled as it is; in memory
// it does not exist.
func (d *Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return d.dial(ctx, network, address)
}

func (rs *Deployment) dial(ctx context.Context, network, address string) (net.Conn, error) {
	rs.mu.Lock()
	s := rs.serverAtLocked(address)
	rs.mu.Unlock()
	switch {
	case s == nil && rs.network == nil:
		return new(net.Dialer).DialContext(ctx, network, address)
	case s == nil:
		return nil, unknownHost(network, address)
	}
	if err := s.gate.wait(ctx.Done()); err != nil {
		return nil, dialError(network, address, context.Cause(ctx))
	}
	if rs.network == nil {
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	if err := sleep(ctx.Done(), rs.network.delay()); err != nil {
		return nil, dialError(network, address, context.Cause(ctx))
	}
	client, server := rs.network.connect(address)
	if !rs.accept(s, server) {
		return nil, dialError(network, address, syscall.ECONNREFUSED)
	}
	return client, nil
}

func unknownHost(network, address string) error {
	return dialError(network, address, &net.DNSError{Err: "no such host", Name: address, IsNotFound: true})
}

func dialError(network, address string, err error) error {
	return &net.OpError{Op: "dial", Net: network, Addr: memAddr(address), Err: err}
}

// sleep waits for d, or returns errHangUp as soon as done is closed.
func sleep(done <-chan struct{}, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-done:
		return errHangUp
	}
}

// gate stops a member's bytes while it is isolated.
type gate struct {
	shut atomic.Bool
	mu   sync.Mutex
	open chan struct{} // closed when the gate opens again; nil while it is open
}

func (g *gate) set(shut bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if shut == g.shut.Load() {
		return
	}
	g.shut.Store(shut)
	if shut {
		g.open = make(chan struct{})
		return
	}
	close(g.open)
	g.open = nil
}

// wait returns when the gate is open, or errHangUp when done is closed first.
func (g *gate) wait(done <-chan struct{}) error {
	for g.shut.Load() {
		g.mu.Lock()
		open := g.open
		g.mu.Unlock()
		if open == nil {
			continue
		}
		select {
		case <-open:
		case <-done:
			return errHangUp
		}
	}
	return nil
}
