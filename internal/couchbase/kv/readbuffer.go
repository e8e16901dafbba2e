package kv

import "github.com/holdfast-db/holdfast/internal/couchbase/memd"

// readSize is the size in bytes of the buffer for replies that are not larger.
const readSize = 16 << 10

// readBuffer splits the bytes that come from the network into packets. It grows only as bytes arrive, because a header may state any
// length.
type readBuffer struct {
	b          []byte
	start, end int // of the bytes that no packet was taken from
}

// next returns the bytes of the next packet, which are valid until room is called, or nil if it has not come wholly. The error is about a
// header.
func (r *readBuffer) next() ([]byte, error) {
	have := r.b[r.start:r.end]
	if len(have) < memd.HeaderLength {
		return nil, nil
	}
	n, err := memd.PacketLength(have)
	if err != nil || len(have) < n {
		return nil, err
	}
	r.start += n
	return have[:n:n], nil
}

// room returns where to read the next bytes to. It has at least one byte.
func (r *readBuffer) room() []byte {
	if r.start == r.end {
		r.start, r.end = 0, 0
		if len(r.b) > mostKept {
			r.b = nil
		}
	}
	if r.b == nil {
		r.b = make([]byte, readSize)
	}
	if r.end == len(r.b) && r.start > 0 {
		r.end = copy(r.b, r.b[r.start:r.end])
		r.start = 0
	}
	if r.end == len(r.b) {
		r.b = append(r.b, make([]byte, len(r.b))...)
		r.b = r.b[:cap(r.b)]
	}
	return r.b[r.end:]
}

// add says that n bytes were read to the room.
func (r *readBuffer) add(n int) { r.end += n }
