package kv

import (
	"io"
	"time"
)

// lookAfter is the time after which a caller looks what has come while nobody read. Calls that follow each other faster need no look, whose
// cost they would feel.
const lookAfter = 100 * time.Microsecond

// lookLocked takes what has come while nobody read: maps, and above all the end of the connection. A request that would be written on a
// connection that has ended already would be lost, and nobody could say whether the server had done it.
func (c *Conn) lookLocked(s *slot) {
	if c.lone == nil || c.reader != nil || time.Duration(c.now()-c.unread) < lookAfter {
		return
	}
	c.reader = s
	c.mu.Unlock()
	for c.takeArrived(s) {
	}
	c.mu.Lock()
	c.handOverLocked()
}

// takeArrived deals with bytes that have come. It reports false if there were none, or the connection has ended.
func (c *Conn) takeArrived(s *slot) bool {
	n, waiting, err := c.lone.arrived(c.in.room())
	switch {
	case waiting:
		return false
	case n == 0 && err == nil:
		err = io.EOF
	}
	c.in.add(n)
	if _, broken := c.deliverAll(s); broken != nil {
		err = broken
	}
	return c.goesOn(err) && n > 0
}
