package router

import (
	"errors"
	"os"
	"time"
)

// watcher finds out that a client has left while its operation waits: it reads what comes, which is kept for the next message.
type watcher struct {
	ended chan struct{} // closed when the goroutine has ended; nil if none runs
	n     int           // bytes that came
	err   error
}

// past is a deadline that has passed.
var past = time.Unix(1, 0)

// watch begins to watch the client, until it has sent more than there is room for.
func (c *client) watch() {
	room := c.in.room()
	if len(room) == 0 || c.watcher.ended != nil {
		return
	}
	ended := make(chan struct{})
	c.watcher = watcher{ended: ended}
	go func() {
		defer close(ended)
		w := &c.watcher
		for w.n < len(room) && w.err == nil {
			var n int
			n, w.err = c.conn.Read(room[w.n:])
			w.n += n
		}
		if w.err != nil && !errors.Is(w.err, os.ErrDeadlineExceeded) {
			c.end()
		}
	}()
}

// endWatch ends the watching, if there is one.
func (c *client) endWatch() {
	if c.watcher.ended == nil {
		return
	}
	_ = c.conn.SetReadDeadline(past)
	<-c.watcher.ended
	c.in.end += c.watcher.n
	c.watcher = watcher{}
	_ = c.conn.SetReadDeadline(time.Time{})
}
