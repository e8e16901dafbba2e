package router

import "sync/atomic"

// departure is what the router must know to end a load-balanced connection in the quiesce. Its driver has no monitor that hears of the quiesce, so
// it would use the connection until the router cuts it, perhaps between two batches of a cursor. Ended between two operations it costs a driver
// one retry, for which the balancer has another router.
type departure struct {
	balanced    bool
	late        bool // it was made when the others had to go: its balancer knows no better place
	cursors     map[int64]struct{}
	transaction bool        // one is open
	rests       atomic.Bool // between two messages, with nothing open
}

// greetBalanced notes that a client is load-balanced.
func (c *client) greetBalanced() {
	if c.departure.balanced {
		return
	}
	c.departure.balanced = true
	c.router.balanced.Store(true)
	c.madeNow()
}

// madeNow notes that the driver has made its connection, but perhaps for the login.
func (c *client) madeNow() { c.departure.late = c.departure.late || c.router.departing.Load() }

// holds reports whether something is open that only this connection can go on with, for a load-balanced driver.
func (d *departure) holds() bool { return d.transaction || len(d.cursors) > 0 }

// opened notes an open cursor.
func (d *departure) opened(cursor int64) {
	if !d.balanced {
		return
	}
	if d.cursors == nil {
		d.cursors = make(map[int64]struct{})
	}
	if len(d.cursors) >= mostOpen {
		clear(d.cursors)
	}
	d.cursors[cursor] = struct{}{}
}

// mostOpen is how many open cursors of a connection are noted. A program that has more does not read them to their end.
const mostOpen = 1000

// closed notes that cursors have ended.
func (d *departure) closed(cursors ...int64) {
	for _, id := range cursors {
		delete(d.cursors, id)
	}
}

// departs reports whether the connection is one that the router may end now. In the middle of a login it is not: some drivers show the error of a
// handshake to the application.
func (c *client) departs() bool {
	d := &c.departure
	return d.balanced && !d.late && !d.holds() && !c.isStranger()
}

// rest is called before the next message of a client is read. It reports whether the connection is to stay.
func (c *client) rest() bool {
	if c.router.ending.Load() {
		return false
	}
	if !c.departs() {
		return true
	}
	c.departure.rests.Store(true) // before the look at departing: either this one sees that, or depart sees this one
	return !c.router.departing.Load()
}

// wake is called when a message has come. It reports whether the connection was not ended meanwhile.
func (c *client) wake() bool {
	return !c.departs() || c.departure.rests.CompareAndSwap(true, false)
}

// depart ends the load-balanced connections that rest, and has the others end when they do.
func (r *Router) depart() {
	r.departing.Store(true)
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.clients {
		if c.departure.rests.CompareAndSwap(true, false) {
			_ = c.socket.Close()
		}
	}
}
