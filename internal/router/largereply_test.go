package router

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/largebuffer"
	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// After the reply of a failed write another attempt may read into the same large buffer: the client still gets that reply.
func TestALargeReplyOfAFailedWriteIsKept(t *testing.T) {
	body := marshal(t, bson.D{{Key: "ok", Value: 1}, {Key: "writeConcernError", Value: bson.D{{Key: "code", Value: 64}}}})
	var r operation.Reply
	if err := r.Parse(bytes.Clone(body)); err != nil {
		t.Fatal(err)
	}
	f := newForwarded(&client{router: new(Router), progress: progress{looks: new(atomic.Int64)}}, &command{ClientMessage: wire.ClientMessage{Name: "insert", Header: wire.Header{OpCode: wire.OpMsg}}})
	defer f.recycle()
	f.large = r.Body
	if err := f.Accept(&r); !errors.Is(err, errInReply) {
		t.Errorf("Accept: %v", err)
	}
	clear(r.Body) // the next attempt
	if got := f.replyBody(); !bytes.Equal(got, body) {
		t.Errorf("the reply is %x, want %x", got, body)
	}
}

// largestRead notes the largest read that it is asked for.
type largestRead struct {
	from io.Reader
	size int
}

func (l *largestRead) Read(b []byte) (int, error) {
	l.size = max(l.size, len(b))
	return l.from.Read(b)
}

// A length that is a lie costs little memory, also not that of a buffer which was recycled.
func TestALengthThatLiesHoldsNoLargeBuffer(t *testing.T) {
	largebuffer.Put(make([]byte, 40<<20))
	head := make([]byte, wire.HeaderLength)
	binary.LittleEndian.PutUint32(head, 40<<20)
	from := &largestRead{from: bytes.NewReader(head)}
	r := newReader(from)
	if _, err := r.next(maxMessageBytes); err == nil || from.size > firstGrowth {
		t.Errorf("%v, after a read of %d bytes", err, from.size)
	}
}

// Buffers come back empty, so nobody can send what another client's reply left in one.
func TestBuffersComeBackEmpty(t *testing.T) {
	b := takeBuffer()
	*b = append((*b)[:0], "a secret"...)
	putBuffer(b)
	if len(*b) != 0 {
		t.Errorf("%q is left", *b)
	}
}

// The merged reply to killCursors goes out, not the large one of the last member.
func TestALargeReplyThatWasReplaced(t *testing.T) {
	here, there := net.Pipe()
	defer there.Close()
	f := newForwarded(&client{router: new(Router), progress: progress{looks: new(atomic.Int64)}, conn: here}, &command{ClientMessage: wire.ClientMessage{Name: "killCursors"}})
	defer f.recycle()
	f.body = []byte("the member's")
	f.replace([]byte("merged"))
	go func() {
		defer here.Close()
		if err := f.sendReply(); err != nil {
			t.Error(err)
		}
	}()
	if got, err := io.ReadAll(there); err != nil || !bytes.HasSuffix(got, []byte("merged")) || bytes.Contains(got, []byte("member")) {
		t.Errorf("%q, %v", got, err)
	}
}
