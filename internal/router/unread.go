package router

import (
	"encoding/binary"
	"io"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// unread is the error of a message that was not kept, because there was no memory for it. The next message can be read.
type unread struct {
	header wire.Header
	flags  wire.MsgFlags // if it is an OP_MSG
	cause  error
}

func (u *unread) Error() string { return u.cause.Error() }

// readPast reads a large message without keeping it.
func (r *reader) readPast(length int, cause error) error {
	u := &unread{cause: cause}
	head := make([]byte, wire.HeaderLength+4) // with the flags
	n := copy(head, r.small[r.start:r.end])
	here := min(r.end-r.start, length)
	r.start += here
	defer r.progress.rest()
	if n < len(head) {
		r.progress.step()
		if _, err := io.ReadFull(r.from, head[n:]); err != nil {
			return err
		}
		here = len(head)
	}
	for rest := int64(length - here); rest > 0; {
		r.progress.step()
		got, err := io.CopyN(io.Discard, r.from, min(rest, stallStep))
		if rest -= got; err != nil {
			return err
		}
	}
	u.header, _ = wire.ParseHeader(head)
	u.flags = wire.MsgFlags(binary.LittleEndian.Uint32(head[wire.HeaderLength:]))
	return u
}

// refuseUnread answers a message that was not kept. The error is that of the connection: an old message is not answered, for the reply to it depends on
// what is in it.
func (c *client) refuseUnread(u *unread) error {
	if u.header.OpCode != wire.OpMsg {
		return u
	}
	q := &command{ClientMessage: wire.ClientMessage{Header: u.header, Flags: u.flags}}
	return c.refuse(q, overloaded(u.cause))
}
