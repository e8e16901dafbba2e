package kv

import (
	"sync/atomic"
	"time"
)

// answerTimes has the longest time in which requests were answered of late: in the second that runs, and in the one before.
type answerTimes struct {
	now, before atomic.Int64 // nanoseconds
	began       int64        // of the second that runs, since the connection was made. Guarded by Conn.mu
}

// Answered tells the connection that a request was answered after d.
func (c *Conn) Answered(d time.Duration) {
	for old := c.times.now.Load(); int64(d) > old; old = c.times.now.Load() {
		if c.times.now.CompareAndSwap(old, int64(d)) {
			return
		}
	}
}

// LongestAnswer returns the longest time in which a request was answered of late: in the last second of use, or up to two.
func (c *Conn) LongestAnswer() time.Duration {
	return time.Duration(max(c.times.now.Load(), c.times.before.Load()))
}

// turnLocked begins a new second if the one that runs has passed.
func (t *answerTimes) turnLocked(now int64) {
	passed := time.Duration(now - t.began)
	if passed < time.Second {
		return
	}
	longest := t.now.Swap(0)
	if passed >= 2*time.Second {
		longest = 0
	}
	t.before.Store(longest)
	t.began = now
}
