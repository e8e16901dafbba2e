package pools

import (
	"time"

	"github.com/holdfast-db/holdfast/telemetry"
)

// Conn is one connection, from the moment in which it begins to be made. Either Failed or Closed must be called once.
type Conn struct {
	pools *Pools
	pool  *pool
	id    int64
	began time.Time

	// Guarded by Pools.mu.
	busy  func() bool // nil: it is not made yet
	ended bool
}

// Begin counts a connection that is going to be made. The error is a panic of the tracer; then there is none to be made.
func (p *Pools) Begin(to Place) (*Conn, error) {
	c := &Conn{pools: p, began: time.Now()}
	p.mu.Lock()
	c.pool = p.at(to)
	c.pool.left = false
	c.pool.ids++
	c.id = c.pool.ids
	c.pool.pending++
	p.mu.Unlock()
	if err := c.emit(telemetry.ConnectionCreated, telemetry.PoolEvent{}); err != nil {
		c.Failed(err)
		return nil, err
	}
	return c, nil
}

func (c *Conn) emit(kind telemetry.PoolEventKind, e telemetry.PoolEvent) error {
	e.Kind, e.Address, e.Service, e.ID = kind, c.pool.place.Address, c.pool.place.Service, c.id
	return c.pools.emit(e)
}

// Made counts the connection as open. busy reports whether an operation uses it. It may have ended already. The error is a panic of the tracer:
// the caller closes the connection.
func (c *Conn) Made(busy func() bool) error {
	c.pools.mu.Lock()
	late := c.ended
	if !late {
		c.makeLocked(busy)
	}
	c.pools.mu.Unlock()
	if late {
		return nil
	}
	return c.emit(telemetry.ConnectionReady, telemetry.PoolEvent{Took: time.Since(c.began)})
}

func (c *Conn) makeLocked(busy func() bool) {
	c.busy = busy
	c.pool.pending--
	c.pool.made++
	c.pool.open[c] = struct{}{}
}

// Failed counts a connection that could not be made.
func (c *Conn) Failed(err error) {
	c.pools.mu.Lock()
	c.ended = true
	c.pool.pending--
	c.pool.failed++
	c.pool.rested = false
	c.pools.forgetLeftLocked(c.pool)
	c.pools.mu.Unlock()
	_ = c.emit(telemetry.ConnectionClosed, telemetry.PoolEvent{Reason: "failed", Err: err}) // it has ended anyway
}

// Closed counts the end of a connection that was made. reason says why in one or two words; err may be nil.
func (c *Conn) Closed(reason string, err error) {
	c.pools.mu.Lock()
	if c.busy == nil { // its maker has not told yet
		c.makeLocked(func() bool { return false })
	}
	c.ended = true
	delete(c.pool.open, c)
	c.pool.closed[reason]++
	c.pool.rested = reason == Idle || reason == Abandoned
	c.pools.forgetLeftLocked(c.pool)
	c.pools.mu.Unlock()
	_ = c.emit(telemetry.ConnectionClosed, telemetry.PoolEvent{Reason: reason, Err: err}) // it has ended anyway
}

// Wait is a request that waits for a connection. End must be called once.
type Wait struct {
	pools *Pools
	pool  *pool
	since time.Time
}

// Wait counts a request that waits for a connection to a place, to which there may be so many; 0 means any number.
func (p *Pools) Wait(to Place, most int) *Wait {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := &Wait{pools: p, pool: p.at(to), since: time.Now()}
	w.pool.most = most
	w.pool.waits[w] = struct{}{}
	return w
}

// End ends the wait. timedOut means that there was no connection before the request's time was over.
func (w *Wait) End(timedOut bool) {
	w.pools.mu.Lock()
	defer w.pools.mu.Unlock()
	delete(w.pool.waits, w)
	w.pool.longestWait = max(w.pool.longestWait, time.Since(w.since))
	if timedOut {
		w.pool.timedOut++
	}
}
