// Package wire holds MongoDB's messages as bytes: it writes and reads OP_MSG and the old OP_QUERY handshake with its
// OP_REPLY, and the BSON inside them as far as a message needs it. It has no sockets, no goroutines and no clock.
//
// Every function that reads checks lengths before it believes them; what it returns aliases the bytes it was given.
// The source is the MongoDB wire protocol reference and bsonspec.org.
package wire

import (
	"encoding/binary"
	"errors"
	"io"
)

// The operation codes that this package knows.
const (
	OpReply   int32 = 1
	OpQuery   int32 = 2004
	OpGetMore int32 = 2005 // only to say that it is not spoken any more
	OpMsg     int32 = 2013
)

// HeaderLength is the size of a message header in bytes.
const HeaderLength = 16

// MaxMessageLength is the largest message that a server accepts, in bytes, unless its hello says otherwise.
const MaxMessageLength = 48_000_000

// Header begins every message.
type Header struct {
	Length     int32
	RequestID  int32
	ResponseTo int32
	OpCode     int32
}

// ParseHeader reads the header at the start of b and checks the length it states.
func ParseHeader(b []byte) (Header, error) {
	if len(b) < HeaderLength {
		return Header{}, malformed("a message of %d bytes, shorter than its header", len(b))
	}
	h := Header{
		Length:     int32(binary.LittleEndian.Uint32(b)),
		RequestID:  int32(binary.LittleEndian.Uint32(b[4:])),
		ResponseTo: int32(binary.LittleEndian.Uint32(b[8:])),
		OpCode:     int32(binary.LittleEndian.Uint32(b[12:])),
	}
	if h.Length < HeaderLength {
		return Header{}, malformed("a message says it has %d bytes, fewer than its header", h.Length)
	}
	return h, nil
}

// beginMessage writes a header without its length; EndMessage sets that.
func beginMessage(dst []byte, requestID, responseTo, opCode int32) (int, []byte) {
	at := len(dst)
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(requestID))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(responseTo))
	return at, binary.LittleEndian.AppendUint32(dst, uint32(opCode))
}

// EndMessage sets the length of the message that began at index and goes to the end of dst.
func EndMessage(dst []byte, index int) []byte {
	binary.LittleEndian.PutUint32(dst[index:], uint32(len(dst)-index))
	return dst
}

// ReadMessage reads one message from r into buf, which it grows as needed, and returns the message's bytes. A message
// longer than limit bytes is an error that matches ErrMalformed. io.EOF means that r ended between messages.
func ReadMessage(r io.Reader, buf []byte, limit int) ([]byte, error) {
	buf = grow(buf[:0], HeaderLength)
	if _, err := io.ReadFull(r, buf); err != nil {
		return nil, err
	}
	h, err := ParseHeader(buf)
	if err != nil {
		return nil, err
	}
	if int(h.Length) > limit {
		return nil, malformed("a message of %d bytes, over the limit of %d", h.Length, limit)
	}
	return readBody(r, buf, int(h.Length))
}

// trusted is how many bytes a header may claim before any of them came.
const trusted = 64 << 10

// readBody reads what is left of a message, growing buf only as fast as bytes come.
func readBody(r io.Reader, buf []byte, length int) ([]byte, error) {
	for len(buf) < length {
		have := len(buf)
		buf = grow(buf, min(length, max(2*have, trusted)))
		if _, err := io.ReadFull(r, buf[have:]); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	return buf, nil
}

// grow returns b with length n, keeping what it holds.
func grow(b []byte, n int) []byte {
	if cap(b) >= n {
		return b[:n]
	}
	return append(b, make([]byte, n-len(b))...)
}
