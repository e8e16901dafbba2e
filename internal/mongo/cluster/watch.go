package cluster

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// An operation on a plain socket watches its context only if its reply does not arrive soon: watching costs five
// allocations and some thousand instructions. Until then the socket has a deadline, which the next operations leave as it
// is while it is far enough away. So the end of a context is noticed at most watchDelay later.
const (
	watchDelay      = 4 * time.Millisecond // from setting the deadline until it passes
	leastWatchDelay = time.Millisecond     // a deadline that is closer is set again
)

// past is a deadline that has passed.
var past = time.Unix(1, 0)

// watch ends a read or a write when its context ends.
type watch struct {
	conn *Conn
	ctx  context.Context //nolint:containedctx // it lives as long as one call
	lazy bool            // the context is watched when the socket's deadline has passed
	stop func() bool     // nil while the context is not watched
}

// watch begins to watch ctx, or arranges that it is watched later. A context that cannot end costs nothing. One that ends
// soon is watched at once, so that short deadlines are exact.
func (c *Conn) watch(ctx context.Context) watch {
	w := watch{conn: c, ctx: ctx}
	c.inUse = true
	if ctx.Done() == nil {
		c.clearDeadline()
		return w
	}
	now := time.Now()
	if deadline, ok := ctx.Deadline(); !c.lazy || ok && deadline.Sub(now) <= watchDelay {
		w.begin()
		return w
	}
	w.lazy = true
	if c.deadline.Sub(now) < leastWatchDelay {
		c.setDeadline(now.Add(watchDelay))
	}
	return w
}

// begin watches the context from now on.
func (w *watch) begin() {
	w.conn.clearDeadline()
	w.stop = context.AfterFunc(w.ctx, w.conn.abort)
}

// goOn reports whether a read or write that failed is continued: if the delay has passed, and not the context ended it.
func (w *watch) goOn(err error) bool {
	if !w.lazy || !errors.Is(err, os.ErrDeadlineExceeded) || w.conn.interruption() != nil {
		return false
	}
	w.lazy = false
	w.begin()
	return true
}

// end ends the watch. After it no deadline of the watch is set any more. It reports whether the context has ended.
func (w *watch) end() bool {
	if w.stop == nil {
		return false
	}
	stopped := w.stop()
	w.stop = nil
	if stopped {
		return false
	}
	<-w.conn.aborted
	w.conn.deadline = past
	return true
}

// abandon ends a watch that was not ended because the application's net.Conn panicked.
func (w *watch) abandon() {
	if w.stop != nil {
		w.end()
	}
}

// setDeadline sets the deadline of reads and writes. It does not replace the deadline of an interruption.
func (c *Conn) setDeadline(t time.Time) {
	c.deadline = t
	_ = c.nc.SetDeadline(t)
	if c.interruption() != nil {
		_ = c.nc.SetDeadline(past)
	}
}

// clearDeadline removes the deadline of an earlier operation.
func (c *Conn) clearDeadline() {
	if !c.deadline.IsZero() {
		c.setDeadline(time.Time{})
	}
}

// isPlain reports whether a connection continues after its deadline has passed, in reads and in writes. Under TLS a write
// that its deadline has ended breaks the connection.
func isPlain(nc any) bool {
	switch nc.(type) {
	case syscall.Conn, interface{ OpenAndSilent() bool }:
		return true
	default:
		return false
	}
}
