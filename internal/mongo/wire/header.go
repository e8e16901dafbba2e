// Package wire holds MongoDB's messages as bytes: it writes and reads OP_MSG, the old OP_QUERY, OP_GET_MORE and OP_KILL_CURSORS
// with their OP_REPLY, and the BSON inside them as far as a message needs it. It has no sockets, no goroutines and no clock.
//
// Every function that reads checks each length before it uses it. The returned slices alias the bytes that were read.
// The source is the MongoDB wire protocol reference and bsonspec.org.
//
// Begin with opmsg.go. Then clientmessage.go (the server's side), document.go (reading BSON), append.go (writing it), opquery.go,
// opgetmore.go, opkillcursors.go, opreply.go, compressed.go, pieces.go (decompression that ends with its context).
package wire

import (
	"encoding/binary"
	"io"

	"github.com/holdfast-db/holdfast/internal/base/sizedread"
)

// The operation codes that this package knows.
const (
	OpReply       int32 = 1
	OpUpdate      int32 = 2001 // this and the next one: no server takes them any more, only a refusal names them
	OpInsert      int32 = 2002
	OpQuery       int32 = 2004
	OpGetMore     int32 = 2005
	OpDelete      int32 = 2006 // as OpUpdate
	OpKillCursors int32 = 2007
	OpMsg         int32 = 2013
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
		return Header{}, malformed("the message length is %d, less than the %d bytes of a header", h.Length, HeaderLength)
	}
	return h, nil
}

// beginMessage writes a header without its length, which EndMessage sets.
func beginMessage(dst []byte, requestID, responseTo, opCode int32) (int, []byte) {
	at := len(dst)
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(requestID))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(responseTo))
	return at, binary.LittleEndian.AppendUint32(dst, uint32(opCode))
}

// EndMessage sets the length of the message that begins at index and ends at the end of dst.
func EndMessage(dst []byte, index int) []byte {
	binary.LittleEndian.PutUint32(dst[index:], uint32(len(dst)-index))
	return dst
}

// ReadMessage reads one message from r into buf, which it grows as needed, and returns the message's bytes. A message
// longer than limit bytes is an error that matches ErrMalformed. io.EOF means that r ended between messages.
func ReadMessage(r io.Reader, buf []byte, limit int) ([]byte, error) {
	return sizedread.Message(r, buf, HeaderLength, func(header []byte) (int, error) {
		h, err := ParseHeader(header)
		if err == nil && int(h.Length) > limit {
			err = malformed("a message of %d bytes, over the limit of %d", h.Length, limit)
		}
		return int(h.Length), err
	})
}

// SetMessageLength replaces the length of the message at the start of b.
func SetMessageLength(b []byte, n int) { binary.LittleEndian.PutUint32(b, uint32(n)) }
