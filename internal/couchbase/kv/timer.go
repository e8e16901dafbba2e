package kv

import "time"

// A tick is the time after which the connection looks whether the caller that reads or writes was cancelled, and whether it is idle. While many
// requests are made, a near timer would double what the wait for a reply costs: the kernel sets its clock for each wait anew.
const (
	quietTick  = time.Millisecond
	cancelTick = 4 * time.Millisecond  // while many requests are made and some can be cancelled
	busyTick   = 20 * time.Millisecond // while many requests are made
)

// manyRequests in one tick make a connection busy.
const manyRequests = 2

// The timer is set for the earliest deadline of a request, or the next tick if that comes before. It may fire too early, never too late: a
// request that ends does not set it again.

// now returns the time since the connection was made, in nanoseconds.
func (c *Conn) now() int64 { return int64(time.Since(c.made)) }

// armLocked sets the timer for a moment, which is before the one that it is set for.
func (c *Conn) armLocked(at, now int64) {
	c.armed = at
	wait := time.Duration(max(0, at-now))
	if c.timer == nil {
		c.timer = time.AfterFunc(wait, c.onTimer)
	} else {
		c.timer.Reset(wait)
	}
}

// tickLocked arranges that the connection looks around after a tick. cancellable means that it is for a caller that can be cancelled.
func (c *Conn) tickLocked(cancellable bool) {
	tick := quietTick
	switch {
	case c.busy && cancellable:
		tick = cancelTick
	case c.busy:
		tick = busyTick
	}
	if c.ticking != 0 && c.ticking <= tick || c.err != nil {
		return
	}
	c.ticking = tick
	if now := c.now(); now+int64(tick) < c.armed {
		c.armLocked(now+int64(tick), now)
	}
}

// onTimer does all that waits for a time.
func (c *Conn) onTimer() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	now := c.now()
	c.armed, c.ticking = never, 0
	quiet := c.requests == c.requestsThen
	c.busy = c.requests-c.requestsThen >= manyRequests && c.reader != nil
	if !quiet {
		c.requestsThen, c.lastTick = c.requests, now
	}
	c.times.turnLocked(now)
	next := c.expireLocked(now)
	c.checkCancelledLocked()
	c.checkIdleLocked(quiet)
	if next < c.armed {
		c.armLocked(next, now)
	}
}

// expireLocked ends the requests whose deadline has passed, and returns the next deadline.
func (c *Conn) expireLocked(now int64) (next int64) {
	next = never
	c.slots.all(func(s *slot) {
		switch {
		case s.state() != stateWaiting:
		case s.deadline <= now:
			c.dismissLocked(s, ErrDeadline)
		default:
			next = min(next, s.deadline)
		}
	})
	return next
}

// dismissLocked lets a caller leave, also if it is the reader or the writer.
func (c *Conn) dismissLocked(s *slot, err error) {
	if !c.failLocked(s, err) {
		return
	}
	if c.reader == s {
		c.interruptLocked()
	}
	if c.writer == s {
		c.stopLocked()
	}
}

// checkCancelledLocked lets the reader and the writer leave if they were cancelled. The others look themselves.
func (c *Conn) checkCancelledLocked() {
	for _, s := range []*slot{c.reader, c.writer} {
		if s == nil || s.cancelled == nil || s.state() != stateWaiting {
			continue
		}
		if isClosed(s.cancelled) {
			c.dismissLocked(s, ErrCancelled)
		} else {
			c.tickLocked(true)
		}
	}
}

// checkIdleLocked starts the idle goroutine if nobody reads and no request came since the last tick. It makes the read of a lone exchange
// that lasts an ordinary one.
func (c *Conn) checkIdleLocked(quiet bool) {
	switch {
	case c.alone && quiet:
		c.interruptLocked()
	case c.alone:
		c.tickLocked(false)
	case c.reader != nil:
	case quiet:
		c.reader = &c.idle
		go c.idleRead()
	default:
		c.tickLocked(false)
	}
}
