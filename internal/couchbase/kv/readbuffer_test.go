package kv

import (
	"bytes"
	"errors"
	"testing"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// split returns the packets that a buffer finds in bytes that come in pieces of a size.
func split(t *testing.T, b []byte, piece int) (packets [][]byte, err error) {
	t.Helper()
	var r readBuffer
	for len(b) > 0 {
		n := copy(r.room(), b[:min(piece, len(b))])
		if n == 0 {
			t.Fatal("there is no room")
		}
		r.add(n)
		b = b[n:]
		for {
			p, err := r.next()
			if err != nil {
				return packets, err
			}
			if p == nil {
				break
			}
			packets = append(packets, bytes.Clone(p))
		}
	}
	return packets, nil
}

func TestPacketsAreSplitHoweverTheyCome(t *testing.T) {
	var stream []byte
	var want [][]byte
	for _, size := range []int{0, 1, 100, readSize - memd.HeaderLength, readSize, 5 * readSize, 0, 3} {
		p := memd.Packet{Magic: memd.MagicResponse, Opcode: memd.OpGet, Opaque: uint32(size), Value: bytes.Repeat([]byte{byte(size)}, size)}
		b, err := p.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		stream, want = append(stream, b...), append(want, b)
	}
	for _, piece := range []int{1, 7, 24, 1000, readSize, len(stream)} {
		got, err := split(t, stream, piece)
		if err != nil || len(got) != len(want) {
			t.Fatalf("in pieces of %d: %d packets, %v; want %d", piece, len(got), err, len(want))
		}
		for i := range got {
			if !bytes.Equal(got[i], want[i]) {
				t.Errorf("in pieces of %d: packet %d differs", piece, i)
			}
		}
	}
}

// A header may state 30 MiB. As long as they have not come, they are not allocated. A large buffer is not kept.
func TestTheReadBufferGrowsOnlyAsBytesArrive(t *testing.T) {
	var r readBuffer
	p := memd.Packet{Magic: memd.MagicResponse, Value: make([]byte, 20<<20)}
	b, err := p.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	for read := 0; read < len(b); {
		room := r.room()
		if len(r.b) > max(readSize, 4*read) {
			t.Fatalf("the buffer has %d bytes after %d came", len(r.b), read)
		}
		n := copy(room, b[read:])
		r.add(n)
		read += n
	}
	if got, err := r.next(); err != nil || !bytes.Equal(got, b) {
		t.Fatalf("the packet has %d bytes, %v", len(got), err)
	}
	if r.room(); len(r.b) != 16<<10 { // which each connection of a client keeps
		t.Errorf("the buffer has %d bytes afterwards", len(r.b))
	}
}

// FuzzPackets gives arbitrary bytes in pieces of an arbitrary size: the result does not depend on the pieces.
func FuzzPackets(f *testing.F) {
	p := memd.Packet{Magic: memd.MagicFlexibleResponse, Frames: []byte{2, 0, 1}, Value: []byte("value")}
	b, err := p.Append(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(append(b, b...), uint8(5))
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"), uint8(0))
	f.Fuzz(func(t *testing.T, b []byte, piece uint8) {
		whole, errWhole := split(t, b, len(b))
		pieces, errPieces := split(t, b, int(piece)+1)
		if (errWhole == nil) != (errPieces == nil) || len(whole) != len(pieces) {
			t.Fatalf("whole %d, %v; in pieces %d, %v", len(whole), errWhole, len(pieces), errPieces)
		}
		if errWhole != nil && !errors.Is(errWhole, memd.ErrMalformed) {
			t.Fatal(errWhole)
		}
		for i := range whole {
			if !bytes.Equal(whole[i], pieces[i]) {
				t.Fatalf("packet %d differs", i)
			}
		}
	})
}
