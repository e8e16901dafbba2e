package services

import "sync"

// openConns counts the connections of a client, with those that are being made, so that Close can wait for their end.
type openConns struct {
	mu     sync.Mutex
	n      int
	closed bool
	none   chan struct{} // closed when the last one has ended, after close
}

// enter counts a connection that is going to be made. It reports false after close.
func (o *openConns) enter() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return false
	}
	o.n++
	return true
}

// leave counts the end of a connection.
func (o *openConns) leave() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.n--; o.n == 0 && o.closed {
		close(o.none)
	}
}

// close refuses further connections and returns a channel that is closed when there is none any more.
func (o *openConns) close() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed {
		o.closed, o.none = true, make(chan struct{})
		if o.n == 0 {
			close(o.none)
		}
	}
	return o.none
}
