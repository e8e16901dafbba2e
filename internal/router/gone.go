package router

import (
	"errors"
	"os"
	"sync"
	"time"
)

// watcher finds out that a client has left while its operation waits or takes long: it reads what comes, which is kept for the next message.
type watcher struct {
	mu    sync.Mutex
	began time.Time // when the operation of a command began; zero if none runs

	ended chan struct{} // closed when the goroutine that reads has ended; nil if none runs
	n     int           // bytes that came
}

// past is a deadline that has passed.
var past = time.Unix(1, 0)

// begin notes that an operation runs, until endWatch.
func (w *watcher) begin(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.began = now
}

// watch begins to watch the client, until it has sent more than there is room for.
func (c *client) watch() {
	c.watcher.mu.Lock()
	defer c.watcher.mu.Unlock()
	c.watchLocked()
}

// watchLong watches the client if its operation takes long. Most are over before anybody needs to know whether the client is still there.
func (c *client) watchLong(now time.Time) {
	c.watcher.mu.Lock()
	defer c.watcher.mu.Unlock()
	if !c.watcher.began.IsZero() && now.Sub(c.watcher.began) >= longOperation {
		c.watchLocked()
	}
}

func (c *client) watchLocked() {
	if c.watcher.ended != nil {
		return
	}
	if c.limited {
		_ = c.conn.SetReadDeadline(time.Time{}) // it was that of a message, which has come
	}
	ended, room := make(chan struct{}), c.in.room()
	c.watcher.ended = ended
	go func() {
		defer close(ended)
		c.watcher.n = c.readInto(room)
	}()
}

// readInto reads until there is no more room, and ends what the client runs if it has left.
func (c *client) readInto(room []byte) (n int) {
	var err error
	for n < len(room) && err == nil {
		var got int
		got, err = c.conn.Read(room[n:])
		n += got
	}
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		c.end()
	}
	return n
}

// endWatch ends the watching, if there is one.
func (c *client) endWatch() {
	w := &c.watcher
	w.mu.Lock()
	defer w.mu.Unlock()
	w.began = time.Time{}
	if w.ended == nil {
		return
	}
	_ = c.conn.SetReadDeadline(past)
	<-w.ended
	c.in.end += w.n
	w.ended = nil
	_ = c.conn.SetReadDeadline(time.Time{})
}

// longOperation is how long an operation takes, at least, that ends when its client leaves: as a server ends it.
const longOperation = 2 * time.Second

// watchClients watches, until the router ends, the clients whose operations take long, and ends those that have stalled.
func (r *Router) watchClients() {
	defer r.serving.Done()
	look := time.Tick(longOperation)
	for {
		select {
		case now := <-look:
			r.lookAtClients(now)
		case <-r.ctx.Done():
			return
		}
	}
}

func (r *Router) lookAtClients(now time.Time) {
	r.looks.Add(1)
	for _, c := range r.watchLong(now) {
		c.endStalled()
	}
}

// watchLong watches the clients whose operations take long. It returns those that have stalled.
func (r *Router) watchLong(now time.Time) (stalled []*client) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.clients {
		c.watchLong(now)
		if c.progress.stalled() {
			stalled = append(stalled, c)
		}
	}
	return stalled
}
