package kv

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/retry"
)

// A server that breaks the protocol loses its connection, and no request gets a wrong reply.
func TestABrokenProtocolEndsTheConnection(t *testing.T) {
	bytes := func(b string) func(*peer, memd.Packet) {
		return func(p *peer, _ memd.Packet) { p.nc.Write([]byte(b)) }
	}
	half := func(p *peer, r memd.Packet) {
		answer := reply(r)
		b, _ := answer.Append(nil)
		p.nc.Write(b[:len(b)-1])
		p.nc.Close()
	}
	for _, c := range []struct {
		name   string
		answer func(p *peer, r memd.Packet)
		want   error
	}{
		{"an opaque of no slot", func(p *peer, r memd.Packet) { r.Opaque = 0xffff; p.send(reply(r)) }, ErrProtocol},
		{"an opaque of a free slot", func(p *peer, r memd.Packet) { r.Opaque++; p.send(reply(r)) }, ErrProtocol},
		{"an opaque of another generation", func(p *peer, r memd.Packet) { r.Opaque += 1 << 16; p.send(reply(r)) }, ErrProtocol},
		{"an opaque of an earlier generation", func(p *peer, r memd.Packet) { r.Opaque -= 1 << 16; p.send(reply(r)) }, ErrProtocol},
		{"another opcode", func(p *peer, r memd.Packet) { r.Opcode = memd.OpSet; p.send(reply(r)) }, ErrProtocol},
		{"a request", func(p *peer, r memd.Packet) { a := reply(r); a.Magic = memd.MagicRequest; p.send(a) }, ErrProtocol},
		{"a server response", func(p *peer, r memd.Packet) { a := reply(r); a.Magic = memd.MagicServerResponse; p.send(a) }, ErrProtocol},
		{"a pushed map without a version", func(p *peer, _ memd.Packet) { a := push(memd.MapVersion{}, ""); a.Extras = nil; p.send(a) }, ErrProtocol},
		{"garbage", bytes("HTTP/1.1 400 Bad Request\r\n\r\n"), ErrProtocol},
		{"a body over the limit", bytes("\x81\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), ErrProtocol},
		{"parts that are larger than the body", bytes("\x81\x00\x00\x09\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00x"), ErrProtocol},
		{"a value that is not compressed", func(p *peer, r memd.Packet) {
			a := reply(r)
			a.DataType, a.Value = memd.DataSnappy, []byte("\xff\xff\xff\xff\x0f")
			p.send(a)
		}, ErrProtocol},
		{"half a reply", half, io.EOF},
		{"no reply", func(p *peer, _ memd.Packet) { p.nc.Close() }, io.EOF},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &server{answer: c.answer}
				cfg := s.start(t)
				cfg.OnMap = func(*Conn, memd.MapVersion, []byte) { t.Error("OnMap was called") }
				cfg.OnOrphan = func(o Orphan) { t.Errorf("OnOrphan was called with %+v", o) }
				conn := s.connect(t, cfg)
				begin(conn, get("asked")).wantError(t, retry.StageInFlight, c.want)
				if err := conn.Err(); !errors.Is(err, ErrClosed) || !errors.Is(err, c.want) {
					t.Errorf("the connection has the error %v", err)
				}
			})
		})
	}
}

func TestASecondReplyEndsTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{answer: func(p *peer, r memd.Packet) { p.send(reply(r), reply(r)) }}
		c := s.connect(t, nil)
		begin(c, get("1")).wantReply(t, "1")
		synctest.Wait()
		var r Reply
		if err := c.RoundTrip(&Request{Opcode: memd.OpNoop}, &r); err == nil || !errors.Is(c.Err(), ErrProtocol) {
			t.Errorf("the next request has the error %v, the connection %v", err, c.Err())
		}
	})
}
