package kv

import "io"

// exchangeAloneLocked writes the packet of a caller that is alone on the connection, and waits for the first bytes after it, as the writer
// and the leader in one. It reports false if the packet is still to be written.
func (c *Conn) exchangeAloneLocked(s *slot) bool {
	if c.lone == nil || c.reader != nil || c.inFlight > 1 || len(c.out) == 0 || s.start != c.handed || len(c.out) > mostLone {
		return false
	}
	b := c.out
	c.out, c.spare = c.spare[:0], nil
	c.handed += int64(len(b))
	c.reader, c.alone = s, true
	c.tickLocked(s.cancelled != nil)
	c.mu.Unlock()
	n, all, err := c.lone.do(b, c.in.room())
	if all {
		c.arrivedAlone(s, n, err)
	}
	c.mu.Lock()
	c.alone = false
	if all {
		c.spare = b[:0]
		return true
	}
	c.putBackLocked(b[n:])
	c.handOverLocked()
	return false
}

// arrivedAlone deals with what the read of a lone exchange returned.
func (c *Conn) arrivedAlone(s *slot, n int, err error) {
	c.in.add(n)
	switch _, broken := c.deliverAll(s); {
	case broken != nil:
		err = broken
	case n == 0 && err == nil:
		err = io.EOF
	}
	c.goesOn(err)
}

// wroteAlone ends the writing of a lone exchange. Packets that came meanwhile are written on a goroutine, because the caller waits.
func (c *Conn) wroteAlone() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.out) > 0 {
		go c.flushFunc()
	} else {
		c.writing = false
	}
}
