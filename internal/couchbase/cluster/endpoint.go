package cluster

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
)

// Endpoint is one node for one bucket.
type Endpoint struct {
	bucket  *Bucket
	address string
	conn    atomic.Pointer[kv.Conn]
	breaker *breaker        // nil: none
	ctx     context.Context //nolint:containedctx // dials and probes end with the endpoint, later than any call
	cancel  context.CancelFunc

	// under Bucket.mu:
	link  *link
	err   error // why there is no connection
	gone  bool
	asked time.Time // when it was last asked for a map
	since time.Time // since when there is a connection
	delay time.Duration
}

func newEndpoint(b *Bucket, address string) *Endpoint {
	e := &Endpoint{bucket: b, address: address, err: ErrConnecting, delay: minRedial}
	e.ctx, e.cancel = context.WithCancel(b.cluster.ctx)
	e.breaker = newBreaker(e, b.cluster.config.Breaker)
	return e
}

// ErrConnecting is why there is no connection while the first dial to the node has not ended.
var ErrConnecting = errors.New("the connection is being made")

// Address returns the node's address.
func (e *Endpoint) Address() string { return e.address }

// Conn returns the connection, or nil if there is none.
func (e *Endpoint) Conn() *kv.Conn { return e.conn.Load() }

// Err returns why there is no connection, or nil.
func (e *Endpoint) Err() error {
	e.bucket.mu.Lock()
	defer e.bucket.mu.Unlock()
	return e.err
}

// usable reports whether an operation may be sent.
func (e *Endpoint) usable() bool { return e.conn.Load() != nil && e.breaker.closed() }

// attach gives the endpoint a connection, if it has none. bucket.mu is held.
func (e *Endpoint) attach(l *link) bool {
	if e.link != nil || e.gone || l.ended {
		return false
	}
	e.link, e.err, e.since, l.endpoint = l, nil, time.Now(), e
	e.conn.Store(l.conn)
	l.renewLocked()
	e.helped()
	return true
}

// helped ends the waits for the endpoint. bucket.mu is held.
func (e *Endpoint) helped() {
	if e.usable() {
		e.bucket.endWaits(func(w Wait) bool { return w.Endpoint == e })
	}
}

// lost notes the end of the connection, and connects again, soon: a node that took a login is not down, also if it ends each connection.
// All who need a map share one fetch. bucket.mu is held.
func (e *Endpoint) lost(l *link, err error) {
	if e.link != l {
		return
	}
	if e.delay = min(e.delay, maxAnsweredRedial); time.Since(e.since) > e.delay {
		e.delay = minRedial
	}
	e.link, e.err = nil, err
	e.conn.Store(nil)
	if e.gone {
		return
	}
	e.redial(true)
	e.bucket.fetchLocked(nil)
}

// Lost notes that a connection has ended, before the connection's own notice does.
func (e *Endpoint) Lost(conn *kv.Conn) { e.conn.CompareAndSwap(conn, nil) }

// leave ends the endpoint: its node is not in the map any more, or the cluster is closed. It returns the connection to close.
// The waits for it end with the map, or with the bucket. bucket.mu is held.
func (e *Endpoint) leave(err error) *link {
	if e.gone {
		return nil
	}
	e.gone, e.err = true, err
	e.cancel()
	l := e.link
	e.link = nil
	e.conn.Store(nil)
	return l
}

// redial connects in the background, after a delay if the last connection has just ended. bucket.mu is held.
func (e *Endpoint) redial(delayed bool) {
	e.bucket.cluster.start(func(context.Context) {
		for {
			logins, changed := e.bucket.cluster.credentialNow()
			if !delayed && e.dial(logins) {
				return
			}
			delayed = false
			if !pauseUntil(e.ctx, e.nextDelay(), changed) { //nolint:contextcheck // it ends with the endpoint, earlier than the cluster
				return
			}
		}
	})
}

// nextDelay returns the delay before the next dial.
func (e *Endpoint) nextDelay() time.Duration {
	e.bucket.mu.Lock()
	defer e.bucket.mu.Unlock()
	d := e.delay
	e.delay = min(2*d, maxRedial)
	return d
}

// dial makes a connection. It reports whether no other dial is needed. logins is the number of the changes of the credential before it.
func (e *Endpoint) dial(logins uint64) bool {
	b := e.bucket
	l, err := b.connect(e.ctx, e.address)
	if err == nil {
		return e.place(l)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if e.gone || e.link != nil {
		return true
	}
	if b.cluster.outdated(err, logins) {
		return false
	}
	first := errors.Is(e.err, ErrConnecting)
	e.err = err
	b.fetchLocked(nil)
	if first || kv.IsLoginFailure(err) { // operations that wait for it learn it at once
		b.endWaits(func(w Wait) bool { return w.Endpoint == e })
	}
	return false
}

// place gives a new connection its place. It reports whether no other dial is needed. The map of the connection comes before its first
// operation: the bucket may have been removed and made again.
func (e *Endpoint) place(l *link) bool {
	b := e.bucket
	b.Learn(l.conn.FirstMap(), l.conn.Address())
	b.mu.Lock()
	l.selected = true
	placed := e.attach(l)
	done := placed || e.gone || e.link != nil
	b.mu.Unlock()
	if !placed {
		l.conn.Close(errNotNeeded)
	}
	return done
}
