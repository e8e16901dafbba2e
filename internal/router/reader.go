package router

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/holdfast-db/holdfast/internal/mongo/largebuffer"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

const (
	// smallMessage is the size in bytes of the buffer that a client has while it is idle.
	smallMessage = 1 << 10
	// watchRoom is what is left beside a message that fills the buffer, for who watches the client while its operation waits.
	watchRoom = 64
	// growth is how many times as large as the bytes that have come the buffer of a large message may be: its length may be a lie.
	growth      = 8
	firstGrowth = 64 << 10
)

// reader splits the bytes of a client into messages.
type reader struct {
	from       io.Reader
	progress   *progress
	small      [smallMessage + watchRoom]byte
	start, end int             // of the bytes in small that no message had
	large      []byte          // the message, if it did not fit into small
	ctx        context.Context //nolint:containedctx // that of the client
	memory     *memory
	stranger   bool        // the client is one
	kept       reservation // of large
}

// next returns the next message, of at most limit bytes. It is valid until the next call.
func (r *reader) next(limit int) ([]byte, error) {
	r.release()
	if err := r.fill(wire.HeaderLength); err != nil {
		return nil, err
	}
	length := int(int32(binary.LittleEndian.Uint32(r.small[r.start:])))
	if length < wire.HeaderLength || length > limit {
		return nil, fmt.Errorf("%w: the message length is %d, it must be at least %d and at most %d", wire.ErrMalformed, length, wire.HeaderLength, limit)
	}
	if length > smallMessage {
		return r.readLarge(length)
	}
	if err := r.fill(length); err != nil {
		return nil, err
	}
	message := r.small[r.start : r.start+length : r.start+length]
	r.start += length
	return message, nil
}

// fill reads until small has n bytes that no message had.
func (r *reader) fill(n int) error {
	if r.start == r.end {
		r.start, r.end = 0, 0
	}
	if r.start+n > smallMessage {
		r.end = copy(r.small[:], r.small[r.start:r.end])
		r.start = 0
	}
	defer r.progress.rest()
	for begun := false; r.end-r.start < n; {
		if r.end > r.start && !begun {
			begun = true
			r.progress.step()
		}
		got, err := r.from.Read(r.small[r.end:smallMessage])
		r.end += got
		if err != nil && r.end-r.start < n {
			return err
		}
	}
	return nil
}

// room returns where more bytes may be read to while the last message is in use. Who reads n bytes adds n to end.
func (r *reader) room() []byte { return r.small[r.end:] }

// readLarge reads a message that does not fit into small. The error is *unread if there is no memory for it.
func (r *reader) readLarge(length int) (_ []byte, err error) {
	if r.kept, err = r.memory.forMessage(r.ctx, length, r.stranger); err != nil {
		return nil, r.readPast(length, err)
	}
	here := r.small[r.start:min(r.end, r.start+length)]
	b := append(make([]byte, 0, min(length, firstGrowth)), here...)
	defer func() { r.large = b }() // until release, also if it did not come to its end
	r.start += len(here)
	defer r.progress.rest()
	for len(b) < length {
		if len(b) == cap(b) || cap(b) < length && cap(b) < growth*len(b) {
			b = grown(b, min(length, max(firstGrowth, growth*len(b))))
		}
		r.progress.step()
		got, err := io.ReadFull(r.from, b[len(b):min(cap(b), length, len(b)+stallStep)])
		if b = b[:len(b)+got]; err != nil {
			return nil, err
		}
	}
	return b, nil
}

func grown(b []byte, size int) []byte {
	if size <= cap(b) {
		return b
	}
	g := largebuffer.Get(size)
	if g == nil {
		g = make([]byte, 0, size)
	}
	g = append(g, b...)
	largebuffer.Put(b)
	return g
}

// release gives up the buffer of a large message.
func (r *reader) release() {
	largebuffer.Put(r.large)
	r.large = nil
	r.kept.release()
}
