package failures

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"syscall"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// network dials by another dialer and can reset all connections that it made. The servers stay as they are.
type network struct {
	dialer options.ContextDialer

	mu    sync.Mutex
	conns []*resettable
}

func (n *network) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := n.dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	made := &resettable{Conn: c}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.conns = append(n.conns, made)
	return made, nil
}

// drop resets all connections.
func (n *network) drop() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.conns {
		c.reset.Store(true)
		_ = c.Conn.Close()
	}
	n.conns = nil
}

// open returns how many connections are open.
func (n *network) open() (open int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.conns {
		if !c.closed.Load() {
			open++
		}
	}
	return open
}

// resettable is a connection whose reads and writes fail after a reset as those of a socket do.
type resettable struct {
	net.Conn
	reset, closed atomic.Bool
}

func (c *resettable) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	return n, c.explain("read", err)
}

func (c *resettable) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	return n, c.explain("write", err)
}

func (c *resettable) Close() error {
	c.closed.Store(true)
	return c.Conn.Close()
}

func (c *resettable) explain(op string, err error) error {
	if err == nil || !c.reset.Load() {
		return err
	}
	return &net.OpError{Op: op, Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: syscall.ECONNRESET}
}
