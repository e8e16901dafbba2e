package kv

import (
	"errors"
	"os"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/panicked"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// readMore reads once and deals with all packets that have come wholly. It returns how many requests have got their replies. Only the
// reader calls it, without the lock; own is its slot.
func (c *Conn) readMore(own *slot) (delivered int, err error) {
	n, err := c.read(c.in.room())
	c.in.add(n)
	delivered, broken := c.deliverAll(own)
	if broken != nil {
		return delivered, broken
	}
	return delivered, err
}

// deliverAll deals with all packets that have come wholly.
func (c *Conn) deliverAll(own *slot) (delivered int, err error) {
	for {
		b, err := c.in.next()
		if b == nil || err != nil {
			return delivered, asViolation(err)
		}
		isReply, err := c.deliver(b, own)
		if err != nil {
			return delivered, err
		}
		if isReply {
			delivered++
		}
	}
}

func asViolation(err error) error {
	if err == nil {
		return nil
	}
	return violation("%w", err)
}

// deliver deals with one packet. It reports whether that was a reply for which a caller waited.
func (c *Conn) deliver(b []byte, own *slot) (bool, error) {
	p, err := memd.Parse(b)
	if err != nil {
		return false, asViolation(err)
	}
	switch p.Magic {
	case memd.MagicResponse, memd.MagicFlexibleResponse:
	case memd.MagicServerRequest:
		return false, c.pushed(&p)
	case memd.MagicRequest, memd.MagicFlexibleRequest, memd.MagicServerResponse:
		return false, violation("it sent a %v", p.Magic)
	}
	s, generation := c.slots.find(uint16(p.Opaque)), uint16(p.Opaque>>16)
	if s == nil || !s.claim(generation) {
		return false, c.orphan(&p, s, generation)
	}
	if s.opcode != p.Opcode {
		// The slot ends together with the connection.
		s.word.Store(word(generation, stateWaiting))
		return false, violation("it answered %v to %v", p.Opcode, s.opcode)
	}
	s.reply.take(&p, b)
	s.setState(stateEnded)
	if s != own {
		s.rouse()
	}
	return true, nil
}

// take copies a packet, whose bytes are b, into the reply.
func (r *Reply) take(p *memd.Packet, b []byte) {
	body := b[memd.HeaderLength:]
	r.Packet, r.Body = *p, nil
	if len(body) == 0 {
		return
	}
	r.Body = append(make([]byte, 0, len(body)), body...)
	rest := r.Body
	r.Frames, rest = cut(rest, len(p.Frames))
	r.Extras, rest = cut(rest, len(p.Extras))
	r.Key, r.Value = cut(rest, len(p.Key))
}

// cut returns the first n bytes and the others.
func cut(b []byte, n int) (first, others []byte) { return b[:n:n], b[n:] }

// orphan deals with a reply for which nobody waits. The error is about an opaque that the server was not asked with, or has answered
// already.
func (c *Conn) orphan(p *memd.Packet, s *slot, generation uint16) error {
	o := Orphan{Conn: c, Opcode: p.Opcode, Status: p.Status, Opaque: p.Opaque}
	c.mu.Lock()
	owed := s != nil && c.settleLocked(s, generation, &o)
	c.mu.Unlock()
	if !owed {
		return violation("its reply to %v has the opaque %#x, which no request has", p.Opcode, p.Opaque)
	}
	if data, found, err := memd.FindFrame(p.Frames, memd.FrameServerDuration); found && err == nil {
		o.ServerDuration, _ = memd.ServerDuration(data)
	}
	return c.tellOrphan(o)
}

func (c *Conn) tellOrphan(o Orphan) (err error) {
	defer panicked.Recovered("OnOrphan", &err)
	if c.config.OnOrphan != nil {
		c.config.OnOrphan(o)
	}
	return nil
}

// settleLocked notes that the server has answered a request whose caller has left. It reports false if there is no such request.
func (c *Conn) settleLocked(s *slot, generation uint16, o *Orphan) bool {
	switch current := s.generation(); {
	case current != generation:
		return c.slots.recycled && int16(current-generation) > 0
	case s.state() == stateLeft:
		o.Started = s.started
		c.slots.answered(s)
		return true
	case s.state() == stateEnded && s.owed: // the caller is about to leave
		s.owed = false
		return true
	}
	return false
}

// pushed deals with a request of the server. There is no reply to it.
func (c *Conn) pushed(p *memd.Packet) error {
	if p.Opcode != memd.ServerOpClusterMap || c.config.OnMap == nil {
		return nil
	}
	version, err := memd.ParseMapVersion(p.Extras)
	if err != nil {
		return asViolation(err)
	}
	body := p.Value
	switch {
	case len(body) == 0:
		body = nil
	case p.DataType&memd.DataSnappy != 0:
		if body, err = memd.Inflate(body); err != nil {
			return asViolation(err)
		}
	default:
		body = append([]byte(nil), body...)
	}
	return c.tellMap(version, body)
}

func (c *Conn) tellMap(version memd.MapVersion, body []byte) (err error) {
	defer panicked.Recovered("OnMap", &err)
	c.config.OnMap(c, version, body)
	return nil
}

// idleRead reads on a goroutine of its own until it has delivered the reply of a request.
func (c *Conn) idleRead() {
	delivered, err := c.deliverAll(&c.idle)
	for delivered == 0 && c.goesOn(err) {
		delivered, err = c.readMore(&c.idle)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handOverLocked()
}

// goesOn reports whether reading continues after an error. If not, it ends the connection.
func (c *Conn) goesOn(err error) bool {
	if err == nil {
		return true
	}
	c.mu.Lock()
	goOn := c.wasInterruptedLocked(err)
	c.mu.Unlock()
	if !goOn {
		c.end(err)
	}
	return goOn
}

// interruptLocked makes the read of a leader that leaves return. If the leader has just ended its read, the next one returns, and goes on.
func (c *Conn) interruptLocked() {
	c.interrupted = true
	c.setDeadlineQuietly(c.nc.SetReadDeadline, past)
}

// wasInterruptedLocked reports whether an error of a read is only an interruption, and makes reads possible again.
func (c *Conn) wasInterruptedLocked(err error) bool {
	if c.err != nil || !c.interrupted || !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	c.interrupted = false
	c.setDeadlineQuietly(c.nc.SetReadDeadline, time.Time{})
	return true
}
