package cluster

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

const fuzzLimit = 1 << 16

// pieces is a connection whose reads return at most size bytes of data.
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

// FuzzReadMessage checks that bytes are split into messages by their stated lengths, for reads of any size.
func FuzzReadMessage(f *testing.F) {
	body, _ := bson.Marshal(bson.D{{Key: "ok", Value: 1}})
	whole := msg(7, body)
	two := slices.Concat(whole, whole)
	f.Add(whole, uint16(1))
	f.Add(whole, uint16(4096))
	f.Add(whole[:20], uint16(4096))
	f.Add(append(whole[:len(whole):len(whole)], 0), uint16(4096))
	f.Add(two, uint16(len(whole)+3))
	f.Add(two[:len(two)-1], uint16(4096))
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n"), uint16(3))
	f.Fuzz(func(t *testing.T, data []byte, size uint16) {
		conn := newConn(&pieces{data: data, size: int(size) + 1}, 1, addrA)
		conn.Description = &topology.Server{Address: addrA, MaxMessageSize: fuzzLimit}
		for rest := data; ; {
			message, err := conn.in.next(conn.nc, conn.maxMessage())
			if want := readError(rest); want != nil {
				expect(t, err, want)
				break
			}
			n := stated(rest)
			if err != nil || string(message) != string(rest[:n]) {
				t.Fatalf("read %x (%v) of %x", message, err, rest)
			}
			rest = rest[n:]
		}
		again := newConn(&pieces{data: data, size: int(size) + 1}, 1, addrA)
		again.Description = conn.Description
		if reply, err := again.read(&watch{}, 7); err == nil && string(reply) != string(data[:stated(data)]) {
			t.Fatalf("read returns %x of %x", reply, data)
		}
	})
}

// readError returns the error that reading a message from data must have.
func readError(data []byte) error {
	n := stated(data)
	switch {
	case len(data) == 0:
		return io.EOF
	case len(data) < wire.HeaderLength:
		return io.ErrUnexpectedEOF
	case n < wire.HeaderLength || n > fuzzLimit:
		return wire.ErrMalformed
	case len(data) < n:
		return io.ErrUnexpectedEOF
	}
	return nil
}

func expect(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
}

// stated returns the length in a message's header.
func stated(data []byte) int {
	if len(data) < 4 {
		return 0
	}
	return int(int32(binary.LittleEndian.Uint32(data)))
}
