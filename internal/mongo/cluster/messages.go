package cluster

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

const (
	firstReadBuffer = 4 << 10
	keptBuffer      = 1 << 20 // a buffer that one large message grew beyond this is not kept
)

// messageBuffer splits the bytes of a connection into messages, with as few reads as possible: most replies come whole
// with the first. Bytes that came behind a message stay for the next one.
type messageBuffer struct {
	bytes []byte // as they were read
	start int    // of what no message was made of yet
}

// next returns the next message, of at most limit bytes. It is valid until the next call.
func (b *messageBuffer) next(from io.Reader, limit int) ([]byte, error) {
	b.dropReturned()
	var readErr error
	for {
		length, err := b.messageLength(limit)
		switch {
		case err != nil:
			return nil, err
		case length > 0 && b.unread() >= length:
			end := b.start + length
			message := b.bytes[b.start:end:end]
			b.start = end
			return message, nil
		case readErr != nil:
			return nil, endOfMessage(readErr, b.unread())
		}
		b.makeRoom(length)
		var n int
		n, readErr = from.Read(b.bytes[len(b.bytes):cap(b.bytes)])
		b.bytes = b.bytes[:len(b.bytes)+n]
	}
}

// unread returns how many bytes have come of which no message was made yet.
func (b *messageBuffer) unread() int { return len(b.bytes) - b.start }

// messageLength returns the length that the next message states, 0 as long as that has not come.
func (b *messageBuffer) messageLength(limit int) (int, error) {
	if b.unread() < wire.HeaderLength {
		return 0, nil
	}
	n := int(int32(binary.LittleEndian.Uint32(b.bytes[b.start:])))
	if n < wire.HeaderLength || n > limit {
		return 0, fmt.Errorf("%w: a message says it has %d bytes", wire.ErrMalformed, n)
	}
	return n, nil
}

// dropReturned makes the place of the messages that were returned free again.
func (b *messageBuffer) dropReturned() {
	if b.start > 0 {
		b.bytes = b.bytes[:copy(b.bytes, b.bytes[b.start:])]
		b.start = 0
	}
	b.shrink()
}

// shrink gives up a buffer that grew beyond its limit, if it holds no bytes.
func (b *messageBuffer) shrink() {
	if cap(b.bytes) > keptBuffer && b.unread() == 0 {
		b.bytes, b.start = nil, 0
	}
}

// makeRoom makes place for a message of that length, 0 if it is not known yet, and for one byte at least.
func (b *messageBuffer) makeRoom(length int) {
	need := max(length, len(b.bytes)+1, firstReadBuffer)
	if need > cap(b.bytes) {
		b.bytes = append(make([]byte, 0, need), b.bytes...)
	}
}

// endOfMessage reports the end of a connection within a message as an unexpected one.
func endOfMessage(err error, got int) error {
	if err == io.EOF && got > 0 { //nolint:errorlint // readers return io.EOF itself
		return io.ErrUnexpectedEOF
	}
	return err
}
