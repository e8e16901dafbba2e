package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/holdfast-db/holdfast/internal/mongo/largebuffer"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

const (
	firstReadBuffer = 4 << 10
	helloReadBuffer = 1 << 10 // of a monitor's connection, which waits most of the time
	growth          = 8       // how many times as large as the bytes that have arrived a buffer over largebuffer.Least may be
)

// messageBuffer splits the bytes of a connection into messages. It reads as much as has arrived, so most replies need
// one read. Bytes after a message are kept for the next one.
type messageBuffer struct {
	bytes []byte // the bytes that were read
	start int    // index of the first byte that was not returned yet
	least int    // the size of a new buffer; 0 means firstReadBuffer
	asks  int    // a message of more bytes is read only after errAsks; 0: all are read
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
		case b.asks > 0 && length > b.asks:
			return nil, errAsks
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

// errAsks means that the message is a large one. It is read after asks was set to its length.
var errAsks = errors.New("a large message")

// unread returns the number of bytes that were read and not returned yet.
func (b *messageBuffer) unread() int { return len(b.bytes) - b.start }

// messageLength returns the length in the next message's header, or 0 if the header has not arrived yet.
func (b *messageBuffer) messageLength(limit int) (int, error) {
	if b.unread() < wire.HeaderLength {
		return 0, nil
	}
	n := int(int32(binary.LittleEndian.Uint32(b.bytes[b.start:])))
	if n < wire.HeaderLength || n > limit {
		return 0, fmt.Errorf("%w: the message length is %d, it must be at least %d and at most %d",
			wire.ErrMalformed, n, wire.HeaderLength, limit)
	}
	return n, nil
}

// dropReturned frees the space of the messages that were returned.
func (b *messageBuffer) dropReturned() {
	if b.start > 0 {
		b.bytes = b.bytes[:copy(b.bytes, b.bytes[b.start:])]
		b.start = 0
		b.shrink()
	}
}

// shrink gives up an empty buffer that is larger than largebuffer.Least.
func (b *messageBuffer) shrink() {
	if cap(b.bytes) > largebuffer.Least && b.unread() == 0 {
		largebuffer.Put(b.bytes)
		b.bytes, b.start = nil, 0
	}
}

// makeRoom makes room for a message of that length, which is 0 if it is not known yet, and for at least one byte. A length that is
// wrong costs little memory: the buffer of a large message grows with the bytes that arrive.
func (b *messageBuffer) makeRoom(length int) {
	if length > cap(b.bytes) {
		if recycled := largebuffer.Get(length); recycled != nil {
			b.bytes = append(recycled, b.bytes...)
			return
		}
	}
	length = min(length, max(largebuffer.Least, growth*len(b.bytes)))
	least := firstReadBuffer
	if b.least > 0 {
		least = b.least
	}
	need := max(length, len(b.bytes)+1, least)
	if need > cap(b.bytes) {
		b.bytes = append(make([]byte, 0, need), b.bytes...)
	}
}

// endOfMessage turns io.EOF inside a message into io.ErrUnexpectedEOF.
func endOfMessage(err error, got int) error {
	if err == io.EOF && got > 0 { //nolint:errorlint // readers return io.EOF itself
		return io.ErrUnexpectedEOF
	}
	return err
}
