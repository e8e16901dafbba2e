package cluster

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

const fuzzLimit = 1 << 16

// pieces is a connection on which data comes in pieces of at most size bytes.
type pieces struct {
	net.Conn
	data []byte
	size int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.data) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), p.size)], p.data)
	p.data = p.data[n:]
	return n, nil
}

// FuzzReadMessage holds a reader of whole messages against what the bytes say at a glance.
func FuzzReadMessage(f *testing.F) {
	body, _ := bson.Marshal(bson.D{{Key: "ok", Value: 1}})
	whole := msg(7, body)
	f.Add(whole, uint16(1))
	f.Add(whole, uint16(4096))
	f.Add(whole[:20], uint16(4096))
	f.Add(append(whole[:len(whole):len(whole)], 0), uint16(4096))
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n"), uint16(3))
	f.Fuzz(func(t *testing.T, data []byte, size uint16) {
		conn := newConn(&pieces{data: data, size: int(size) + 1}, 1, addrA)
		conn.Description = &topology.Server{Address: addrA, MaxMessageSize: fuzzLimit}
		message, err := conn.readMessage()
		switch stated := stated(data); {
		case len(data) == 0:
			expect(t, err, io.EOF)
		case len(data) < wire.HeaderLength:
			expect(t, err, io.ErrUnexpectedEOF)
		case stated < wire.HeaderLength || stated > fuzzLimit:
			expect(t, err, wire.ErrMalformed)
		case len(data) < stated:
			expect(t, err, io.ErrUnexpectedEOF)
		case err != nil: // only bytes that came together with the message's end are seen
			expect(t, err, wire.ErrMalformed)
			if len(data) == stated {
				t.Fatal(err)
			}
		case string(message) != string(data[:stated]):
			t.Fatalf("read %x of %x", message, data)
		}
		again := newConn(&pieces{data: data, size: int(size) + 1}, 1, addrA)
		again.Description = conn.Description
		if reply, err := again.read(7); err == nil && string(reply) != string(message) {
			t.Fatalf("read returns %x for %x", reply, message)
		}
	})
}

func expect(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
}

// stated is the length that a message gives itself.
func stated(data []byte) int {
	if len(data) < 4 {
		return 0
	}
	return int(int32(binary.LittleEndian.Uint32(data)))
}
