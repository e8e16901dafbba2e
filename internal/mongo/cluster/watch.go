package cluster

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// watchDelay is how long an operation on a plain socket waits before it watches its context. Most replies arrive earlier,
// and a deadline of the socket costs less than watching: five allocations and some thousand instructions. So the end of
// a context is noticed at most this much later.
const watchDelay = time.Millisecond

// past is a deadline that has passed.
var past = time.Unix(1, 0)

// watch ends a read or a write when its context ends.
type watch struct {
	conn *Conn
	ctx  context.Context //nolint:containedctx // it lives as long as one call
	lazy bool            // the context is watched when the socket's deadline has passed
	stop func() bool     // nil while the context is not watched
}

// watch begins to watch ctx, or arranges that it is watched after watchDelay. A context that cannot end costs nothing.
func (c *Conn) watch(ctx context.Context) watch {
	w := watch{conn: c, ctx: ctx}
	switch {
	case ctx.Done() == nil:
		c.clearDeadline()
	case c.lazy:
		w.lazy = true
		c.setDeadline(time.Now().Add(watchDelay))
	default:
		w.begin()
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
	if !w.lazy || !errors.Is(err, os.ErrDeadlineExceeded) || w.conn.interrupted.Load() {
		return false
	}
	w.lazy = false
	w.begin()
	return true
}

// end ends the watch. After it no deadline of the watch is set any more. It reports whether the context has ended.
func (w *watch) end() bool {
	if w.stop == nil || w.stop() {
		return false
	}
	<-w.conn.aborted
	w.conn.deadline = true
	return true
}

// setDeadline sets the deadline of reads and writes. It does not replace the deadline of an interruption.
func (c *Conn) setDeadline(t time.Time) {
	c.deadline = true
	_ = c.nc.SetDeadline(t)
	if c.interrupted.Load() {
		_ = c.nc.SetDeadline(past)
	}
}

// clearDeadline removes the deadline of an earlier operation.
func (c *Conn) clearDeadline() {
	if c.deadline {
		c.setDeadline(time.Time{})
		c.deadline = false
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
