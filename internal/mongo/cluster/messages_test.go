package cluster

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/largebuffer"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/retry"
)

// streamed returns an OP_MSG with requestID id, and with the flag moreToCome if more is true.
func streamed(t *testing.T, id, responseTo int32, more bool, doc bson.D) []byte {
	t.Helper()
	body, err := bson.Marshal(append(bson.D{{Key: "ok", Value: 1}}, doc...))
	if err != nil {
		t.Fatal(err)
	}
	var flags wire.MsgFlags
	if more {
		flags = wire.MoreToCome
	}
	at, b := wire.BeginMsg(nil, id, responseTo, flags)
	return wire.EndMessage(append(b, body...), at)
}

// streamingPeer answers each command except the first hello by calling answer.
func streamingPeer(answer func(q *question)) *peer {
	return &peer{hello: standalone(), script: func(q *question) bool {
		if q.handshake {
			return false
		}
		answer(q)
		return true
	}}
}

// The streaming protocol of Server Monitoring and exhaust cursors read such messages.
func TestNextReadsAHelloThatWasNotRequested(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := streamingPeer(func(q *question) {
			first := streamed(t, 100, q.header.RequestID, true, member(true, addrA))
			second := streamed(t, 101, 100, true, member(false, addrA))
			third := streamed(t, 102, 101, false, member(true, addrA, addrB))
			q.conn.Write(append(first, second...)) // one read may return both
			q.conn.Write(third)
		})
		s := bare(t, p, nil)
		found(t, s, standalone())
		conn := checkOut(t, s)
		described := make([]*topology.Server, 0, 3)
		next, err := conn.sendHello(t.Context(), addrA, &Handshake{})
		for ; err == nil; next, err = conn.nextHello(t.Context(), addrA) {
			described = append(described, next)
			if !conn.Continues() {
				break
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(described) != 3 || described[0].Type != topology.RSPrimary || described[1].Type != topology.RSSecondary ||
			len(described[2].Hosts) != 2 {
			t.Errorf("described as %+v", described)
		}
		s.CheckIn(conn)
		counters(t, s, 1, 1, 0)
	})
}

func TestAConnectionWithMoreToComeIsClosedAtCheckIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bare(t, streamingPeer(func(q *question) {
			q.conn.Write(streamed(t, 100, q.header.RequestID, true, nil))
		}), nil)
		found(t, s, standalone())
		conn := checkOut(t, s)
		if err := ping(t.Context(), conn); err != nil {
			t.Fatal(err)
		}
		s.CheckIn(conn)
		counters(t, s, 0, 0, 0)
	})
}

func TestANextMessageMustAnswerTheOneBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bare(t, streamingPeer(func(q *question) {
			q.conn.Write(streamed(t, 100, q.header.RequestID, true, nil))
			q.conn.Write(streamed(t, 101, 99, false, nil))
		}), nil)
		found(t, s, standalone())
		conn := checkOut(t, s)
		if err := ping(t.Context(), conn); err != nil {
			t.Fatal(err)
		}
		_, err := conn.Next(t.Context())
		wantBroken(t, conn, err, retry.StageInFlight, wire.ErrMalformed)
		s.CheckIn(conn)
	})
}

func TestNextEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bare(t, streamingPeer(func(q *question) {
			q.conn.Write(streamed(t, 100, q.header.RequestID, true, nil))
		}), nil)
		found(t, s, standalone())
		conn := checkOut(t, s)
		if err := ping(t.Context(), conn); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := conn.Next(ctx)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		s.CheckIn(conn)
	})
}

func TestMessagesOfAllSizesAreReadCompletely(t *testing.T) {
	for _, sizes := range [][]int{
		{10, 20, 30},
		{firstReadBuffer, 1},
		{firstReadBuffer + 1, firstReadBuffer - 1, firstReadBuffer},
		{10 * firstReadBuffer, 5, 3 * firstReadBuffer},
		{largebuffer.Least + 1, 7, largebuffer.Least + 2},
	} {
		var all []byte
		var want [][]byte
		for i, size := range sizes {
			m := streamed(t, int32(i), 0, false, bson.D{{Key: "b", Value: make([]byte, size)}})
			want = append(want, m)
			all = append(all, m...)
		}
		for _, piece := range []int{1 << 30, firstReadBuffer, 100, 17} {
			var b messageBuffer
			from := &pieces{data: all, size: piece}
			for i, m := range want {
				got, err := b.next(from, wire.MaxMessageLength)
				if err != nil || string(got) != string(m) {
					t.Fatalf("sizes %v in pieces of %d: message %d has %d bytes (%v), want %d", sizes, piece, i, len(got), err, len(m))
				}
			}
			if b.unread() != 0 || len(from.data) != 0 {
				t.Errorf("sizes %v in pieces of %d: %d and %d bytes are left", sizes, piece, b.unread(), len(from.data))
			}
		}
	}
}

// A connection that is checked in drops the buffer of a large message, then it is used again.
func TestABufferThatWasDroppedIsUsedAgain(t *testing.T) {
	var b messageBuffer
	large := streamed(t, 1, 0, false, bson.D{{Key: "b", Value: make([]byte, largebuffer.Least)}})
	small := streamed(t, 2, 0, false, nil)
	for _, m := range [][]byte{large, small, large} {
		got, err := b.next(&pieces{data: m, size: 1 << 30}, wire.MaxMessageLength)
		if err != nil || string(got) != string(m) {
			t.Fatalf("%d bytes (%v), want %d", len(got), err, len(m))
		}
		b.shrink()
	}
}

// A broken or hostile server may state any length below the limit, on each connection of a pool.
func TestAStatedLengthCostsNoMemoryBeforeTheBytesArrive(t *testing.T) {
	for _, arrived := range []int{16, 1000, 1 << 20, 5 << 20} {
		var b messageBuffer
		sent := make([]byte, arrived)
		binary.LittleEndian.PutUint32(sent, wire.MaxMessageLength)
		if _, err := b.next(bytes.NewReader(sent), wire.MaxMessageLength); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("after %d bytes: %v", arrived, err)
		}
		if most := max(largebuffer.Least, growth*arrived); cap(b.bytes) > most {
			t.Errorf("after %d bytes the buffer has %d, more than %d", arrived, cap(b.bytes), most)
		}
	}
}

func TestALargeMessageArrivesWhole(t *testing.T) {
	for _, length := range []int{largebuffer.Least - 1, largebuffer.Least, largebuffer.Least + 1, 10 * largebuffer.Least} { // the last one grows twice
		message := binary.LittleEndian.AppendUint32(nil, uint32(length))
		for i := len(message); i < length; i++ {
			message = append(message, byte(i*i>>3))
		}
		for name, from := range map[string]io.Reader{"at once": bytes.NewReader(message), "in halves": iotest.HalfReader(bytes.NewReader(message))} {
			var b messageBuffer
			if got, err := b.next(from, wire.MaxMessageLength); err != nil || !bytes.Equal(got, message) {
				t.Errorf("%d bytes %s: %d arrive, %v", length, name, len(got), err)
			}
		}
	}
}

// A stream of hellos is never checked in, so the buffer itself drops what a large message has grown.
func TestTheBufferOfALargeMessageIsNotKeptForTheNextOne(t *testing.T) {
	var b messageBuffer
	for _, size := range []int{largebuffer.Least, 10} {
		m := streamed(t, 1, 0, false, bson.D{{Key: "b", Value: make([]byte, size)}})
		if _, err := b.next(bytes.NewReader(m), wire.MaxMessageLength); err != nil {
			t.Fatal(err)
		}
	}
	if cap(b.bytes) > largebuffer.Least {
		t.Errorf("the buffer has %d bytes after a small message", cap(b.bytes))
	}
}
