package cluster

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/retry"
)

// brokenPipe writes the first bytes of a message and fails then.
type brokenPipe struct {
	net.Conn
	through int
}

func (b *brokenPipe) Write(data []byte) (int, error) {
	if len(data) <= b.through {
		return b.Conn.Write(data)
	}
	n, _ := b.Conn.Write(data[:b.through])
	return n, &net.OpError{Op: "write", Err: syscall.EPIPE}
}

func TestAFailedWriteIsInFlightOnceAByteWasWritten(t *testing.T) {
	for _, c := range []struct {
		name    string
		through int
		want    retry.Stage
	}{
		{"a write of no byte leaves nothing in flight", 0, retry.StageBeforeSending},
		{"a write of one byte leaves the message in flight", 1, retry.StageInFlight},
		{"a write of a part leaves the message in flight", 20, retry.StageInFlight},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, _ := memnet.Pipe()
			conn := newConn(&brokenPipe{Conn: client, through: c.through}, 1, addrA)
			wantBroken(t, conn, ping(t.Context(), conn), c.want, syscall.EPIPE)
		})
	}
}

func TestAFailedSendHasAStage(t *testing.T) {
	client, _ := memnet.Pipe()
	conn := newConn(&brokenPipe{Conn: client}, 1, addrA)
	wantBroken(t, conn, conn.Send(t.Context(), []byte("message")), retry.StageBeforeSending, syscall.EPIPE)
}

func TestAMessageThatCannotBeCompressedIsNotInFlight(t *testing.T) {
	client, _ := memnet.Pipe()
	conn := newConn(client, 1, addrA)
	conn.compression = compression{codecs: newCodecs(&Config{Handshake: Handshake{Compressors: []string{"zlib"}}}), with: 99}
	wantBroken(t, conn, conn.Send(t.Context(), command("find")), retry.StageBeforeSending, wire.ErrMalformed)
}

func TestAWriteToAClosedConnectionIsNotInFlight(t *testing.T) {
	client, server := memnet.Pipe()
	conn := newConn(client, 1, addrA)
	server.CloseRead()
	wantBroken(t, conn, ping(t.Context(), conn), retry.StageBeforeSending, syscall.EPIPE)
}

func wantBroken(t *testing.T, conn *Conn, err error, stage retry.Stage, cause error) {
	t.Helper()
	wantIOError(t, err, stage, cause)
	if !conn.broken {
		t.Error("the connection may be used again")
	}
}

func wantIOError(t *testing.T, err error, stage retry.Stage, cause error) {
	t.Helper()
	var broken *IOError
	if !errors.As(err, &broken) || !errors.Is(err, cause) {
		t.Fatalf("error %v, want an IOError of %v", err, cause)
	}
	if broken.Stage != stage {
		t.Errorf("stage %v, want %v: %v", broken.Stage, stage, err)
	}
}

// answers are failures after the message was written: its effect is unknown then.
var answers = []struct {
	name string
	do   func(q *question)
	want error
}{
	{"the peer closes without a reply", func(q *question) { q.conn.Close() }, io.EOF},
	{"the peer closes within the header", func(q *question) { q.cut(7) }, io.ErrUnexpectedEOF},
	{"the peer closes within the reply", func(q *question) { q.cut(25) }, io.ErrUnexpectedEOF},
	{"the connection is reset", func(q *question) { q.conn.Abort(syscall.ECONNRESET) }, syscall.ECONNRESET},
	{"the read times out", func(q *question) { q.conn.Abort(os.ErrDeadlineExceeded) }, os.ErrDeadlineExceeded},
	{"the reply is to another request", func(q *question) { q.send(func(b []byte) []byte { b[8]++; return b }) }, wire.ErrMalformed},
	{"random bytes arrive", func(q *question) { q.conn.Write(make([]byte, 64)) }, wire.ErrMalformed},
	{"text arrives", func(q *question) { q.conn.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) }, wire.ErrMalformed},
	{"the reply's length is too large", func(q *question) { q.send(length(wire.MaxMessageLength + 1)) }, wire.ErrMalformed},
	{"the reply's length is negative", func(q *question) { q.send(length(-1)) }, wire.ErrMalformed},
	{"the reply's length is shorter than a header", func(q *question) { q.send(length(15)) }, wire.ErrMalformed},
	{"there are bytes after the reply", func(q *question) { q.send(func(b []byte) []byte { return append(b, 0) }) }, wire.ErrMalformed},
}

func length(n int32) func([]byte) []byte {
	return func(b []byte) []byte {
		binary.LittleEndian.PutUint32(b, uint32(n))
		return b
	}
}

// cut sends the first n bytes of an answer and closes.
func (q *question) cut(n int) {
	q.send(func(b []byte) []byte { return b[:n] })
	q.conn.Close()
}

func (q *question) send(change func([]byte) []byte) {
	q.conn.Write(change(q.reply(bson.D{{Key: "ok", Value: 1}})))
}

func TestAFailureAfterTheWriteIsInFlight(t *testing.T) {
	for _, a := range answers {
		t.Run(a.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &peer{hello: standalone()}
				s := bare(t, p, nil)
				found(t, s, standalone())
				conn := checkOut(t, s)
				p.set(func(p *peer) { p.script = func(q *question) bool { a.do(q); return true } })
				wantBroken(t, conn, ping(t.Context(), conn), retry.StageInFlight, a.want)
				s.CheckIn(conn)
				counters(t, s, 0, 0, 0)
			})
		})
	}
}

// The same failures during the first hello fail the handshake.
func TestAFailureDuringTheHandshakeIsAHandshakeError(t *testing.T) {
	for _, a := range answers {
		t.Run(a.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &peer{script: func(q *question) bool { a.do(q); return true }}
				s := bare(t, p, nil)
				found(t, s, standalone())
				_, err := s.CheckOut(t.Context(), nil)
				var failed *HandshakeError
				if !errors.As(err, &failed) || !errors.Is(err, a.want) || !failed.Network || !failed.Connecting {
					t.Errorf("error %v (%+v), want a failed connection with %v", err, failed, a.want)
				}
				counters(t, s, 0, 0, 0)
			})
		})
	}
}

func TestAReplyThatArrivesInPiecesIsReadCompletely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: standalone()}
		s := bare(t, p, nil)
		found(t, s, standalone())
		p.set(func(p *peer) {
			p.script = func(q *question) bool {
				if q.hello {
					return false
				}
				for _, b := range q.reply(bson.D{{Key: "ok", Value: 1}, {Key: "s", Value: string(make([]byte, 5*firstReadBuffer))}}) {
					q.conn.Write([]byte{b})
				}
				return true
			}
		})
		for range 2 {
			if err := operation(t.Context(), s); err != nil {
				t.Error(err)
			}
		}
		counters(t, s, 1, 1, 0)
	})
}
