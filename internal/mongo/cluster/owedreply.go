package cluster

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
)

// owedReplyLimit is how long a reply is awaited whose operation has ended with its context.
const owedReplyLimit = 2 * time.Second

// readOwed reads, in the background, the reply that the operation of a connection did not wait for, and makes the
// connection available again. Otherwise each operation that reaches its deadline would cost a connection.
func (p *pool) readOwed(c *Conn) {
	p.mu.Lock()
	reads := p.state != closed
	if reads {
		p.server.cluster.background.Go(func() { p.awaitOwed(c) })
	}
	p.mu.Unlock()
	if !reads {
		p.discard(c, event.ReasonError)
	}
}

func (p *pool) awaitOwed(c *Conn) {
	ctx, cancel := context.WithTimeout(p.server.cluster.backgroundCtx, owedReplyLimit)
	defer cancel()
	if c.readOwed(&watch{conn: c, ctx: ctx}) != nil || !c.sound() {
		p.discard(c, event.ReasonError)
		return
	}
	p.makeAvailable(c)
}

// readOwed reads a reply that is owed.
func (c *Conn) readOwed(w *watch) (err error) {
	defer recovered("the connection", &err)
	c.inUse = true
	defer w.abandon()
	w.begin()
	_, err = c.read(w, c.owed)
	c.owed = 0
	return c.done(w, err)
}
