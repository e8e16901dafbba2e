package kv

import (
	"errors"
	"os"
	"runtime"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/retry"
)

// mostKept is the size in bytes of the largest buffer that is kept after its use.
const mostKept = 64 << 10

// past is a deadline that has passed.
var past = time.Unix(1, 0)

// RoundTrip sends a request and waits for its reply, which may have any status. The error is an *[Error]: nothing is known of the
// request's effect if its Stage is in flight. It may be called by many goroutines.
func (c *Conn) RoundTrip(r *Request, reply *Reply) error {
	if err := c.exchange(r, reply); err != nil {
		return err
	}
	if reply.DataType&memd.DataSnappy != 0 {
		return c.inflate(reply)
	}
	return nil
}

// exchange sends a request and waits for its reply.
func (c *Conn) exchange(r *Request, reply *Reply) error {
	value, dataType := r.Value, r.DataType
	if c.features.Has(memd.FeatureSnappy) && r.Opcode.Compressible() && dataType&memd.DataSnappy == 0 {
		if deflated, smaller := c.config.deflate(value); smaller {
			value, dataType = deflated, dataType|memd.DataSnappy
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s, err := c.queueLocked(r, reply, dataType, value)
	if err != nil {
		return &Error{Stage: retry.StageBeforeSending, Err: err}
	}
	if !c.writing {
		c.writing = true
		c.beginWritingLocked(s)
	}
	if failed := c.awaitLocked(s, r); failed != nil {
		return failed
	}
	return nil
}

// beginWritingLocked makes the caller the writer, if a write on this connection can be stopped when the caller leaves.
func (c *Conn) beginWritingLocked(s *slot) {
	if !c.plain {
		go c.flushFunc()
		return
	}
	if s.cancelled != nil {
		c.tickLocked(true)
	}
	c.lookLocked(s)
	if c.exchangeAloneLocked(s) {
		return
	}
	if c.inFlight > 1 {
		c.mu.Unlock()
		runtime.Gosched() // so that one write carries the packets of all callers that can run
		c.mu.Lock()
	}
	c.flushLocked(s)
}

// queueLocked puts a request into a slot and its packet into the buffer.
func (c *Conn) queueLocked(r *Request, reply *Reply, dataType memd.DataType, value []byte) (*slot, error) {
	switch {
	case c.err != nil:
		return nil, c.err
	case c.retired != nil:
		return nil, c.retired
	case c.inFlight >= c.config.maxQueue():
		return nil, ErrQueueFull
	case isClosed(r.Cancelled):
		return nil, ErrCancelled
	}
	deadline := never
	if !r.Deadline.IsZero() {
		deadline = int64(r.Deadline.Sub(c.made))
		if deadline < c.armed {
			now := c.now()
			if deadline <= now {
				return nil, ErrDeadline
			}
			c.armLocked(deadline, now)
		}
	}
	s := c.slots.take()
	generation := s.generation()
	before := len(c.out)
	out, err := r.appendTo(c.out, opaque(s.index, generation), dataType, value)
	if err != nil {
		c.slots.put(s)
		return nil, err
	}
	c.out = out
	s.opcode, s.reply, s.cancelled, s.deadline = r.Opcode, reply, r.Cancelled, deadline
	s.start, s.end = c.handed+int64(before), c.handed+int64(len(out))
	s.word.Store(word(generation, stateWaiting))
	c.inFlight++
	c.requests++
	return s, nil
}

// unqueueLocked takes the packet of a slot out of the buffer.
func (c *Conn) unqueueLocked(s *slot) {
	if c.out == nil {
		return
	}
	from, to := s.start-c.handed, s.end-c.handed
	c.out = append(c.out[:from], c.out[to:]...)
	size := s.end - s.start
	c.slots.all(func(other *slot) {
		if other.start >= s.end {
			other.start -= size
			other.end -= size
		}
	})
}

// flushLocked writes until the buffer is empty. own is the slot of the caller that writes, nil on a goroutine of its own. A caller whose
// request has ended leaves the rest to such a goroutine.
func (c *Conn) flushLocked(own *slot) {
	for len(c.out) > 0 && c.err == nil {
		if own != nil && own.state() == stateEnded {
			go c.flushFunc()
			return
		}
		b := c.out
		c.out, c.spare = c.spare[:0], nil
		c.handed += int64(len(b))
		c.writer = own
		c.mu.Unlock()
		n, err := c.write(b)
		c.mu.Lock()
		c.writer = nil
		if err != nil && !c.goOnLocked(err, b, n) {
			c.writing = false
			c.mu.Unlock()
			c.end(err)
			c.mu.Lock()
			return
		}
		if err == nil && cap(b) <= mostKept {
			c.spare = b[:0]
		}
	}
	c.writing = false
}

// goOnLocked puts the rest of a write that the timer stopped back into the buffer. It reports false if the write failed otherwise.
func (c *Conn) goOnLocked(err error, b []byte, n int) bool {
	if !c.stopped || !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	c.stopped = false
	c.setDeadlineQuietly(c.nc.SetWriteDeadline, time.Time{})
	c.putBackLocked(b[n:])
	return true
}

// putBackLocked puts what a write has left over back into the buffer. The packets in it whose callers have left are not sent any more, but
// for the rest of one of which a part was written.
func (c *Conn) putBackLocked(rest []byte) {
	if c.err != nil {
		return
	}
	c.handed -= int64(len(rest))
	c.out = append(rest[:len(rest):len(rest)], c.out...)
	c.slots.all(func(s *slot) {
		if !s.owed || s.start < c.handed {
			return
		}
		c.unqueueLocked(s)
		s.owed = false
		if s.state() == stateLeft {
			c.slots.answered(s)
		} else {
			s.err.Stage = retry.StageBeforeSending
		}
	})
}

// stopLocked makes the write of a caller that leaves return. Another write continues it.
func (c *Conn) stopLocked() {
	c.stopped = true
	c.setDeadlineQuietly(c.nc.SetWriteDeadline, past)
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
