package router

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"sync/atomic"
	"testing"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// inPieces returns the bytes in reads of size bytes at most.
type inPieces struct {
	rest []byte
	size int
}

func (p *inPieces) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), p.size)], p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// split returns the whole messages at the start of some bytes, and whether the rest is none: not even the start of one.
func split(b []byte, limit int) (messages [][]byte, broken bool) {
	for len(b) >= wire.HeaderLength {
		n := int(int32(binary.LittleEndian.Uint32(b)))
		switch {
		case n < wire.HeaderLength || n > limit:
			return messages, true
		case n > len(b):
			return messages, false
		}
		messages, b = append(messages, b[:n]), b[n:]
	}
	return messages, false
}

// However the bytes come, and whatever who watches the client has read of them, they are the same messages.
func FuzzReaderNext(f *testing.F) {
	message := func(n int) []byte {
		b := bytes.Repeat([]byte{7}, n)
		binary.LittleEndian.PutUint32(b, uint32(n))
		return b
	}
	var all []byte
	for _, n := range []int{16, 17, smallMessage - 1, smallMessage, smallMessage + 1, smallMessage + watchRoom, 3000} {
		all = append(all, message(n)...)
	}
	for _, size := range []uint16{1, 15, 16, 1024, 1100} {
		f.Add(append(all, all...), size, uint16(0))
		f.Add(all, size, uint16(70))
	}
	f.Add(append(message(firstGrowth+1), message(16)...), uint16(50_000), uint16(1))
	f.Add(message(16)[:9], uint16(3), uint16(1))
	f.Add([]byte{0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, uint16(3), uint16(1))
	f.Fuzz(func(t *testing.T, b []byte, size, watched uint16) {
		const limit = 100_000
		from := &inPieces{rest: b, size: max(1, int(size))}
		r := newReader(from)
		want, broken := split(b, limit)
		for i := 0; ; i++ {
			got, err := r.next(limit)
			if err != nil {
				if i != len(want) || broken != errors.Is(err, wire.ErrMalformed) {
					t.Fatalf("%d messages, then %v; want %d, then broken: %v", i, err, len(want), broken)
				}
				return
			}
			room := r.room()
			n, _ := from.Read(room[:min(len(room), int(watched))])
			r.end += n
			if i >= len(want) || !bytes.Equal(got, want[i]) {
				t.Fatalf("message %d is %x", i, got)
			}
		}
	})
}

// newReader returns the reader of a client that is alone.
func newReader(from io.Reader) *reader {
	m := newMemory(defaultMemory, 1, defaultWindow)
	return &reader{from: from, progress: &progress{looks: new(atomic.Int64)}, ctx: context.Background(), memory: &m}
}
