package router

import "sync/atomic"

const (
	// stallStep is how many bytes of a message that has begun must follow, or be taken by the client, within stallLooks looks of the router at
	// its clients. A client that has died in the middle, or that stops to read, would otherwise hold memory for ever.
	stallStep  = 1 << 20
	stallLooks = 5 // of longOperation each: ten seconds, or up to two more
)

// progress is that of a message on its way to or from a client.
type progress struct {
	looks *atomic.Int64 // at all clients so far
	began atomic.Int64  // at which look the step began; 0: no message is on its way
}

// step notes that the next stallStep bytes are on their way.
func (p *progress) step() { p.began.Store(p.looks.Load()) }

// rest notes that the whole message has been transferred.
func (p *progress) rest() { p.began.Store(0) }

func (p *progress) stalled() bool {
	began := p.began.Load()
	return began != 0 && p.looks.Load()-began > stallLooks
}

// endStalled disconnects a client whose message makes no progress.
func (c *client) endStalled() {
	_ = c.socket.Close()
	c.router.cfg.Refused(c.conn.RemoteAddr(), "in ten seconds it has sent or taken less than 1 MiB of a message")
}

// largeWriter is a connection that tells how far a large write is, so that the system gets all bytes at once: 16 MB are sent with a tenth less CPU
// than in steps.
type largeWriter interface {
	WriteLarge(b []byte, took func(n int)) (int, error)
}

// write sends a whole message, which may be large.
func (c *client) write(b []byte) error {
	defer c.progress.rest()
	if large, ok := c.conn.(largeWriter); ok && len(b) > stallStep {
		return c.writeLarge(large, b)
	}
	for len(b) > 0 {
		n := min(len(b), stallStep)
		c.progress.step()
		if _, err := c.conn.Write(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

func (c *client) writeLarge(to largeWriter, b []byte) error {
	c.progress.step()
	taken := 0 // in this step
	_, err := to.WriteLarge(b, func(n int) {
		if taken += n; taken >= stallStep {
			taken = 0
			c.progress.step()
		}
	})
	return err
}
