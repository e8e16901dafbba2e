package cluster

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/internal/base/panicked"
)

// owedReplyLimit is how long a reply is awaited whose operation has ended with its context.
const owedReplyLimit = 2 * time.Second

// readOwed reads, in the background, the reply that the operation of a connection did not wait for, and makes the
// connection available again. Otherwise each operation that reaches its deadline would cost a connection.
func (p *pool) readOwed(c *Conn) {
	p.mu.Lock()
	reads := p.state != closed
	if reads {
		p.owing = append(p.owing, c)
		p.server.cluster.background.Go(func() { p.awaitOwed(c) })
		p.connectForWaiters()
	}
	p.mu.Unlock()
	if !reads {
		p.discard(c, event.ReasonError)
	}
}

func (p *pool) awaitOwed(c *Conn) {
	ctx, cancel := context.WithTimeout(p.server.cluster.backgroundCtx, owedReplyLimit)
	defer cancel()
	err := c.readOwed(&watch{conn: c, ctx: ctx})
	if p.owesNoMore(c); err != nil || !c.sound() {
		p.discard(c, event.ReasonError)
		return
	}
	p.makeAvailable(c, time.Now())
}

// owesNoMore notes that the reply was read, or is not awaited any longer.
func (p *pool) owesNoMore(c *Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.owing = slices.DeleteFunc(p.owing, func(o *Conn) bool { return o == c })
}

// yieldOwing gives up connections of a full pool that owe a reply, those first that have owed it longest: no more than there are waiters
// for which no connection is on its way. What runs in the background must not hold what a caller waits for. It is called with the
// lock held.
func (p *pool) yieldOwing() {
	if most := p.server.cluster.cfg.MaxPoolSize; most == 0 || p.total < most {
		return
	}
	needed := p.waiters.length - p.connecting - p.filling - p.yielding
	for pending := range p.pending {
		if pending.waiter != nil && !pending.waiter.queued() {
			needed-- // its caller has left, so the first waiter gets it
		}
	}
	for ; needed > 0 && len(p.owing) > 0; needed-- {
		c := p.owing[0]
		p.owing = slices.Delete(p.owing, 0, 1)
		p.yields(c)
		c.interrupted.Store(&errYields)
		p.server.cluster.background.Go(c.wake) // not under the lock: the net.Conn may be the application's
	}
}

// errYields is why a connection is closed that owes a reply.
var errYields = errors.New("a caller waits for a connection, and the reply to an operation that has ended is still to come")

// readOwed reads a reply that is owed.
func (c *Conn) readOwed(w *watch) (err error) {
	defer panicked.Recovered("the connection", &err)
	c.inUse = true
	defer w.abandon()
	w.begin()
	if c.Admit != nil {
		c.Admit = refuseLarge
	}
	_, err = c.read(w, c.owed)
	c.owed = 0
	return c.done(w, err)
}
