package router

import (
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// A stranger is a client that has not logged in, where clients have to. Whoever can reach the router can be one.

const (
	// maxBeforeLogin is the size in bytes of the largest message of a stranger.
	maxBeforeLogin = 16 << 10
	// strangerSilence is how long a stranger may take for a message. The monitors of drivers never log in; they send a hello
	// each minute at least, unless somebody has set another heartbeat.
	strangerSilence = 10 * time.Minute
	// mostStrangersWait is how many operations of strangers wait for a member. They take no place from those of users.
	mostStrangersWait = 100
)

// isStranger reports whether a client still has to log in.
func (c *client) isStranger() bool { return c.router.accounts != nil && c.account == nil }

// limit returns the size of the largest message that the client may send.
func (c *client) limit() int {
	if c.isStranger() {
		return maxBeforeLogin
	}
	return maxMessageBytes
}

// places returns those among which the client's operations wait.
func (c *client) places() *waiting {
	if c.isStranger() {
		return &c.router.strangers
	}
	return &c.router.waiting
}

// limitSilence has the connection end if a stranger sends no whole message in time. Other clients may be silent for ever.
func (c *client) limitSilence() {
	switch {
	case c.isStranger():
		c.limited = true
		_ = c.conn.SetReadDeadline(time.Now().Add(strangerSilence))
	case c.limited:
		c.limited = false
		_ = c.conn.SetReadDeadline(time.Time{})
	}
}

// withoutFields drops all that a stranger has sent beside the name of a command: members would get it from the router's own user, with its
// sessions. Fields that are true may stay.
func (c *command) withoutFields(but ...string) {
	at, body := wire.BeginDocument(nil)
	body = wire.AppendInt32(body, c.Name, 1)
	for _, name := range but {
		if e := field(c.Body, name); e.True() {
			body = wire.AppendBool(body, name, true)
		}
	}
	body = wire.EndDocument(body, at)
	message := wire.ClientMessage{Header: c.Header, Flags: c.Flags, Name: c.Name, Database: c.Database, Body: body}
	*c = command{ClientMessage: message, old: c.old}
}
