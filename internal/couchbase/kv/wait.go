package kv

import "github.com/holdfast-db/holdfast/internal/couchbase/memd"

// awaitLocked waits until the slot's request has ended, and gives the slot back. While nobody else reads, it reads for all.
func (c *Conn) awaitLocked(s *slot, r *Request) *Error {
	for s.state() != stateEnded {
		if c.reader == nil {
			c.reader = s
		}
		if c.reader == s {
			c.leadLocked(s)
		} else {
			c.followLocked(s)
		}
	}
	if c.reader == s { // it was made the leader and ended at the same time
		c.handOverLocked()
	}
	err := s.err
	c.inFlight--
	if s.owed {
		s.started = r.Started
		c.slots.leave(s)
	} else {
		c.slots.put(s)
	}
	return err
}

// followLocked waits until the caller is woken or cancelled.
func (c *Conn) followLocked(s *slot) {
	c.followers.push(s)
	c.mu.Unlock()
	cancelled := false
	if s.cancelled == nil {
		<-s.wake
	} else {
		select {
		case <-s.wake:
		case <-s.cancelled:
			cancelled = true
		}
	}
	c.mu.Lock()
	if s.linked {
		c.followers.remove(s)
	}
	if cancelled {
		s.cancelled = nil // if the reader is about to deliver the reply, only that is waited for
		c.failLocked(s, ErrCancelled)
	}
}

// leadLocked reads for all until the slot's request has ended, then hands the reading over.
func (c *Conn) leadLocked(s *slot) {
	if s.cancelled != nil {
		c.tickLocked(true)
	}
	for s.state() != stateEnded {
		c.mu.Unlock()
		_, err := c.readMore(s)
		if err != nil {
			c.goesOn(err)
		}
		c.mu.Lock()
	}
	c.handOverLocked()
}

// handOverLocked makes a waiting caller the leader. The one that came last is chosen: its reply probably comes last, so it leads for the
// longest time.
func (c *Conn) handOverLocked() {
	for s := c.followers.last; s != nil; s = s.prev {
		if s.state() == stateWaiting {
			c.reader = s
			c.followers.remove(s)
			s.rouse()
			return
		}
	}
	c.reader, c.unread = nil, c.now()
	c.tickLocked(false)
}

// inflate replaces the compressed value of a reply.
func (c *Conn) inflate(reply *Reply) error {
	value, err := memd.Inflate(reply.Value)
	if err != nil {
		err = violation("the reply to %v: %w", reply.Opcode, err)
		c.end(err)
		return &Error{Opaque: reply.Opaque, Err: err} // in flight: the answer is not understood
	}
	reply.Value = value
	reply.DataType &^= memd.DataSnappy
	return nil
}
