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

// watch begins to watch the client. The buffer of a message that fills it has no room for more: then the client is not watched.
func (c *client) watch() {
	room := c.in.small[c.in.end:]
	if len(room) == 0 || c.watcher.ended != nil {
		return
	}
	ended := make(chan struct{})
	c.watcher = watcher{ended: ended}
	go func() {
		defer close(ended)
		w := &c.watcher
		if w.n, w.err = c.conn.Read(room); w.err != nil && !errors.Is(w.err, os.ErrDeadlineExceeded) {
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
