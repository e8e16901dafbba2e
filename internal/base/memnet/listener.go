package memnet

import (
	"net"
	"sync"
	"syscall"
	"time"
)

// Listener accepts the connections that are dialled to its address. A dial does not wait for Accept.
type Listener struct {
	address Addr
	farther time.Duration // see ListenFar

	mu       sync.Mutex
	cond     sync.Cond
	waiting  []*Conn // dialled and not yet accepted
	refusing bool
	closed   bool
}

var _ net.Listener = (*Listener)(nil)

func newListener(address Addr) *Listener {
	l := &Listener{address: address}
	l.cond.L = &l.mu
	return l
}

// Accept waits for the next connection, which is a *[Conn]. The error matches net.ErrClosed when the listener is closed.
func (l *Listener) Accept() (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.waiting) == 0 && !l.closed {
		l.cond.Wait()
	}
	if l.closed {
		return nil, failed("accept", networkName, l.address.String(), net.ErrClosed)
	}
	c := l.waiting[0]
	l.waiting[0] = nil
	l.waiting = l.waiting[1:]
	return c, nil
}

// Refuse makes every dial fail with syscall.ECONNREFUSED, as if nobody listened, until it is called with false. Connections
// that have not been accepted yet are aborted.
func (l *Listener) Refuse(refuse bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refusing = refuse
	if refuse {
		l.abortWaitingLocked()
	}
}

// Close ends the listener. Connections that have not been accepted yet are aborted; those that have are not concerned.
func (l *Listener) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return failed("close", networkName, l.address.String(), net.ErrClosed)
	}
	l.closed = true
	l.abortWaitingLocked()
	l.cond.Broadcast()
	return nil
}

// Addr returns the address at which the listener was made.
func (l *Listener) Addr() net.Addr { return l.address }

// offer hands over the server's end of a dialled connection; false if it is refused.
func (l *Listener) offer(c *Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.refusing {
		return false
	}
	l.waiting = append(l.waiting, c)
	l.cond.Signal()
	return true
}

func (l *Listener) abortWaitingLocked() {
	for _, c := range l.waiting {
		c.Abort(syscall.ECONNRESET)
	}
	l.waiting = nil
}

func (l *Listener) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}
