package cluster

import (
	"context"
	"errors"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// LargeReply is the size in bytes over which a reply needs the permission of [Conn.Admit].
const LargeReply = 64 << 10

// ErrNoRoom is the error of a reply for which there is no memory. It says nothing of the server.
var ErrNoRoom = errors.New("there is no memory for the reply")

// nextMessage reads the next message, with the permission that a large one needs.
func (c *Conn) nextMessage(w *watch) ([]byte, error) {
	c.in.asks = 0
	if c.Admit != nil {
		c.in.asks = LargeReply
	}
	for {
		message, err := c.in.next(c.nc, c.maxMessage())
		switch {
		case err == errAsks: //nolint:errorlint // it is never wrapped
			length, _ := c.in.messageLength(c.maxMessage())
			if err := c.Admit(w.ctx, length); err != nil {
				return nil, err
			}
			c.in.asks = length
		case err == nil || !w.goOn(err):
			return message, err
		}
	}
}

// admitDecompressed asks for permission to decompress a message, if that makes it large.
func (c *Conn) admitDecompressed(ctx context.Context, message []byte) error {
	if c.Admit == nil {
		return nil
	}
	if size := wire.DecompressedSize(message); size > max(LargeReply, len(message)) {
		return c.Admit(ctx, size)
	}
	return nil
}

// refuseLarge is the Admit of a reply that nobody needs any more.
func refuseLarge(context.Context, int) error { return ErrNoRoom }
