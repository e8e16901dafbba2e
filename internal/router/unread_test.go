package router

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"testing/iotest"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// withoutMemory returns a reader that has none for large messages.
func withoutMemory(from io.Reader) *reader {
	r := newReader(from)
	m := newMemory(0, 1, time.Nanosecond)
	r.memory = &m
	return r
}

// messageOfLength returns an OP_MSG without a body that anybody could read.
func messageOfLength(n int, flags wire.MsgFlags) []byte {
	b := bytes.Repeat([]byte{7}, n)
	binary.LittleEndian.PutUint32(b, uint32(n))
	binary.LittleEndian.PutUint32(b[12:], uint32(wire.OpMsg))
	binary.LittleEndian.PutUint32(b[16:], uint32(flags))
	return b
}

// However much of a message has come, and of the next one with it, the next one is read whole after one that is not kept.
func TestTheMessageAfterOneThatIsNotKept(t *testing.T) {
	first, last := messageOfLength(20, 0), messageOfLength(100, 0)
	for _, length := range []int{smallMessage + 1, smallMessage + 40, 3000, 1 << 20} {
		for _, came := range []int{0, 16, 19, 20, 21, 1000, smallMessage + watchRoom} { // what who watches the client has read of it
			rest := append(messageOfLength(length, wire.MoreToCome), last...)
			r := withoutMemory(nil)
			r.from = bytes.NewReader(first)
			if _, err := r.next(maxMessageBytes); err != nil {
				t.Fatal(err)
			}
			n := copy(r.room(), rest[:min(came, len(rest))])
			r.end += n
			r.from = &inPieces{rest[n:], 700}
			_, err := r.next(maxMessageBytes)
			var u *unread
			if !errors.As(err, &u) || u.header.Length != int32(length) || u.flags != wire.MoreToCome || !errors.Is(u.cause, errNoMemory) {
				t.Fatalf("%d bytes, %d have come: %+v", length, came, err)
			}
			if message, err := r.next(maxMessageBytes); err != nil || !bytes.Equal(message, last) {
				t.Errorf("%d bytes, %d have come: then %x, %v", length, came, message, err)
			}
		}
	}
}

// The last message may come with the end of the stream.
func TestAMessageWithTheEnd(t *testing.T) {
	for _, length := range []int{100, 5000} {
		message := messageOfLength(length, 0)
		r := newReader(iotest.DataErrReader(bytes.NewReader(message)))
		if got, err := r.next(maxMessageBytes); err != nil || !bytes.Equal(got, message) {
			t.Errorf("%d of %d bytes, %v", len(got), length, err)
		}
		if _, err := r.next(maxMessageBytes); err == nil {
			t.Error("another message follows")
		}
	}
}

// A client that has left in the middle of such a message gets no answer.
func TestTheEndInAMessageThatIsNotKept(t *testing.T) {
	message := messageOfLength(5000, 0)
	for _, n := range []int{16, 19, 20, 1000, 4999} {
		_, err := withoutMemory(bytes.NewReader(message[:n])).next(maxMessageBytes)
		if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
}
