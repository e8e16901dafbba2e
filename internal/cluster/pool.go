package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
)

type poolState uint8

const (
	paused poolState = iota
	ready
	closed
)

// PoolClearedError is a checkout that met a pool whose server was found unusable since it was selected. Nothing was
// sent.
type PoolClearedError struct {
	Address string
	Cause   error
}

// Error returns which pool was cleared and why.
func (e *PoolClearedError) Error() string {
	return fmt.Sprintf("connection pool for %s was cleared because another operation failed with: %v", e.Address, e.Cause)
}

// Unwrap returns what cleared the pool.
func (e *PoolClearedError) Unwrap() error { return e.Cause }

// CheckOutError is a checkout that ended without a connection. Nothing was sent.
type CheckOutError struct {
	Address    string
	Out, Limit uint64
	LongestUse time.Duration // of the connections that are out
	Waited     time.Duration
	Err        error
}

// Error says how many connections were out and for how long.
func (e *CheckOutError) Error() string {
	return fmt.Sprintf("no connection to %s after %v: %d of at most %d are in use, the longest for %v: %v",
		e.Address, e.Waited.Round(time.Millisecond), e.Out, e.Limit, e.LongestUse.Round(time.Millisecond), e.Err)
}

// Unwrap returns what ended the wait.
func (e *CheckOutError) Unwrap() error { return e.Err }

// ErrPoolClosed is returned by a checkout after the client was disconnected or the server left the deployment.
var ErrPoolClosed = errors.New("connection pool is closed")

// pool is the connections of one server (Connection Monitoring and Pooling). It starts paused; the monitor makes it
// ready.
type pool struct {
	server *Server

	mu         sync.Mutex
	state      poolState
	generation uint64
	cause      error   // what cleared it
	idle       []*Conn // the most recently used last
	open       map[*Conn]struct{}
	total      uint64 // open and being made
	connecting uint64
	lastID     int64
	waiters    []*waiter
}

// waiter is a checkout that waits: for a connection, or for the right to make one, or for the pool's end.
type waiter struct{ granted chan grant }

type grant struct {
	conn *Conn // nil: make one
	err  error
}

// checkOut returns a connection that is the caller's until it is checked in.
func (p *pool) checkOut(ctx context.Context) (*Conn, error) {
	start := time.Now()
	p.emit(event.PoolEvent{Type: event.ConnectionCheckOutStarted})
	c, err := p.acquire(ctx, start)
	if err != nil {
		p.emit(event.PoolEvent{
			Type: event.ConnectionCheckOutFailed, Reason: checkOutFailure(err), Error: err, Duration: time.Since(start),
		})
		return nil, err
	}
	c.checkedOut = start
	if p.observed() {
		p.emit(event.PoolEvent{Type: event.ConnectionCheckedOut, ConnectionID: c.id, Duration: time.Since(start)})
	}
	return c, nil
}

func (p *pool) acquire(ctx context.Context, start time.Time) (*Conn, error) {
	for {
		c, w, err := p.take()
		switch {
		case err != nil:
			return nil, err
		case w != nil:
			if c, err = p.wait(ctx, w, start); err != nil {
				return nil, err
			}
		}
		if c == nil {
			return p.create(ctx)
		}
		if reason := p.perished(c, start); reason != "" {
			p.discard(c, reason)
			continue
		}
		return c, nil
	}
}

// take returns an idle connection; or, with the right to make one, nothing; or a waiter.
func (p *pool) take() (*Conn, *waiter, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch p.state {
	case closed:
		return nil, nil, ErrPoolClosed
	case paused:
		return nil, nil, &PoolClearedError{Address: p.server.address, Cause: p.cause}
	case ready:
	}
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return c, nil, nil
	}
	if p.mayConnect() {
		p.total++
		p.connecting++
		return nil, nil, nil
	}
	w := &waiter{granted: make(chan grant, 1)}
	p.waiters = append(p.waiters, w)
	return nil, w, nil
}

// mayConnect is asked with the lock held.
func (p *pool) mayConnect() bool {
	cfg := &p.server.cluster.cfg
	return (cfg.MaxPoolSize == 0 || p.total < cfg.MaxPoolSize) && p.connecting < cfg.MaxConnecting
}

func (p *pool) wait(ctx context.Context, w *waiter, start time.Time) (*Conn, error) {
	select {
	case g := <-w.granted:
		return g.conn, g.err
	case <-ctx.Done():
	}
	p.mu.Lock()
	if i := slices.Index(p.waiters, w); i >= 0 {
		p.waiters = slices.Delete(p.waiters, i, i+1)
	}
	err := p.exhausted(context.Cause(ctx), start)
	p.mu.Unlock()
	select {
	case g := <-w.granted: // it came at the last moment and must not be lost
		p.giveBack(g)
	default:
	}
	return nil, err
}

// exhausted is called with the lock held.
func (p *pool) exhausted(cause error, start time.Time) error {
	e := &CheckOutError{
		Address: p.server.address, Limit: p.server.cluster.cfg.MaxPoolSize, Waited: time.Since(start), Err: cause,
		Out: p.total - uint64(len(p.idle)),
	}
	for c := range p.open {
		if !slices.Contains(p.idle, c) {
			e.LongestUse = max(e.LongestUse, time.Since(c.checkedOut))
		}
	}
	return e
}

func (p *pool) giveBack(g grant) {
	switch {
	case g.err != nil:
	case g.conn != nil:
		p.put(g.conn)
	default:
		p.mu.Lock()
		p.total--
		p.connecting--
		p.serveWaiters()
		p.mu.Unlock()
	}
}

// create makes a connection; take or a grant gave the right to.
func (p *pool) create(ctx context.Context) (*Conn, error) {
	p.mu.Lock()
	p.lastID++
	id, generation := p.lastID, p.generation
	p.mu.Unlock()
	start := time.Now()
	p.emit(event.PoolEvent{Type: event.ConnectionCreated, ConnectionID: id})
	c, _, err := p.server.connect(ctx, id)
	if err != nil {
		p.server.cluster.handshakeFailed(p.server, generation, err)
		p.emit(event.PoolEvent{Type: event.ConnectionClosed, ConnectionID: id, Reason: event.ReasonError, Error: err})
		p.giveBack(grant{})
		return nil, err
	}
	c.pool, c.generation = p, generation
	p.mu.Lock()
	p.connecting--
	p.open[c] = struct{}{}
	p.serveWaiters()
	p.mu.Unlock()
	p.emit(event.PoolEvent{Type: event.ConnectionReady, ConnectionID: id, Duration: time.Since(start)})
	p.server.cluster.learn(c.Description)
	return c, nil
}

// checkIn takes a connection back.
func (p *pool) checkIn(c *Conn) {
	if p.observed() {
		p.emit(event.PoolEvent{Type: event.ConnectionCheckedIn, ConnectionID: c.id})
	}
	if cap(c.Out) > keptBuffer {
		c.Out = nil
	}
	if c.broken {
		p.discard(c, event.ReasonError)
		return
	}
	c.lastUsed = time.Now()
	p.put(c)
}

// put makes a connection available again.
func (p *pool) put(c *Conn) {
	p.mu.Lock()
	if reason := p.stale(c); reason != "" {
		p.mu.Unlock()
		p.discard(c, reason)
		return
	}
	if len(p.waiters) > 0 {
		p.nextWaiter().granted <- grant{conn: c}
	} else {
		p.idle = append(p.idle, c)
	}
	p.mu.Unlock()
}

// stale is called with the lock held and returns why the connection can serve no more, if so.
func (p *pool) stale(c *Conn) string {
	switch {
	case p.state == closed:
		return event.ReasonPoolClosed
	case c.generation != p.generation:
		return event.ReasonStale
	default:
		return ""
	}
}

// perished returns why an idle connection cannot be used, if so.
func (p *pool) perished(c *Conn, now time.Time) string {
	p.mu.Lock()
	reason := p.stale(c)
	p.mu.Unlock()
	limit := p.server.cluster.cfg.MaxConnIdleTime
	switch {
	case reason != "":
		return reason
	case limit > 0 && now.Sub(c.lastUsed) > limit:
		return event.ReasonIdle
	case !c.usable(now):
		return event.ReasonError
	default:
		return ""
	}
}

// discard closes a connection that is neither idle nor handed out any more.
func (p *pool) discard(c *Conn, reason string) {
	p.mu.Lock()
	delete(p.open, c)
	p.total--
	p.serveWaiters()
	p.mu.Unlock()
	p.closeConn(c, reason)
}

func (p *pool) closeConn(c *Conn, reason string) {
	p.emit(event.PoolEvent{Type: event.ConnectionClosed, ConnectionID: c.id, Reason: reason})
	c.close()
}

// serveWaiters is called with the lock held, when the right to connect may have become free.
func (p *pool) serveWaiters() {
	for p.state == ready && len(p.waiters) > 0 && p.mayConnect() {
		p.total++
		p.connecting++
		p.nextWaiter().granted <- grant{}
	}
}

func (p *pool) nextWaiter() *waiter {
	w := p.waiters[0]
	p.waiters = p.waiters[1:]
	return w
}

// makeReady lets checkouts happen again. What it returns is done without locks.
func (p *pool) makeReady() effects {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state != paused {
		return nil
	}
	p.state, p.cause = ready, nil
	return effects{func() { p.emit(event.PoolEvent{Type: event.ConnectionPoolReady}) }}
}

// clear makes every connection stale and pauses the pool. With interrupt, connections in use are broken as well: their
// server did not answer its monitor, so their operations would wait in vain. What it returns is done without locks.
func (p *pool) clear(cause error, interrupt bool) effects {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state == closed {
		return nil
	}
	var after effects
	if p.state == ready {
		after = append(after, func() {
			p.emit(event.PoolEvent{Type: event.ConnectionPoolCleared, Interruption: interrupt, Error: cause})
		})
	}
	p.state, p.cause = paused, cause
	p.generation++
	for _, c := range p.dropIdle() {
		after = append(after, func() { p.closeConn(c, event.ReasonStale) })
	}
	p.failWaiters(&PoolClearedError{Address: p.server.address, Cause: cause})
	if interrupt {
		for c := range p.open {
			after = append(after, c.interrupt)
		}
	}
	return after
}

// close ends the pool. Connections in use are closed when they come back, or now if interrupt is set.
func (p *pool) close() {
	p.mu.Lock()
	if p.state == closed {
		p.mu.Unlock()
		return
	}
	p.state = closed
	idle := p.dropIdle()
	p.failWaiters(ErrPoolClosed)
	p.mu.Unlock()
	for _, c := range idle {
		p.closeConn(c, event.ReasonPoolClosed)
	}
	p.emit(event.PoolEvent{Type: event.ConnectionPoolClosed})
}

// interruptAll breaks what is in use.
func (p *pool) interruptAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.open {
		c.interrupt()
	}
}

func (p *pool) dropIdle() []*Conn {
	idle := p.idle
	p.idle = nil
	for _, c := range idle {
		delete(p.open, c)
		p.total--
	}
	return idle
}

func (p *pool) failWaiters(err error) {
	for _, w := range p.waiters {
		w.granted <- grant{err: err}
	}
	p.waiters = nil
}

func (p *pool) currentGeneration() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.generation
}

func (p *pool) observed() bool {
	m := p.server.cluster.cfg.PoolMonitor
	return m != nil && m.Event != nil
}

// emit tells the listener. It is never called with a lock held.
func (p *pool) emit(e event.PoolEvent) {
	if p.observed() {
		p.tell(e)
	}
}

// tell is apart from emit so that an event is allocated only for a listener.
func (p *pool) tell(e event.PoolEvent) {
	e.Address = p.server.address
	p.server.cluster.cfg.PoolMonitor.Event(&e)
}

func checkOutFailure(err error) string {
	var cleared *PoolClearedError
	var exhausted *CheckOutError
	switch {
	case errors.Is(err, ErrPoolClosed):
		return event.ReasonPoolClosed
	case errors.As(err, &cleared):
		return event.ReasonConnectionErrored
	case errors.As(err, &exhausted):
		return event.ReasonTimedOut
	default:
		return event.ReasonConnectionErrored
	}
}
