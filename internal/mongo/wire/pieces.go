package wire

import (
	"context"
	"encoding/binary"
	"io"
)

// piece is how many bytes are decompressed between two looks at the context.
const piece = 64 << 10

// pieces collects what is decompressed. Its memory grows with the bytes that come, so a length that is stated and wrong costs
// little. It ends with the error of ctx soon after ctx has ended: a short message can become a very long one.
type pieces struct {
	ctx    context.Context //nolint:containedctx // it lives as long as one call
	out    []byte
	most   int // the length that out may have
	looked int // the length of out at the last look at ctx
}

// begin returns the pieces of a message of size bytes, which are appended to dst. They may be one byte more: a longer message
// is refused anyway.
func begin(ctx context.Context, dst []byte, size int) *pieces {
	return &pieces{ctx: ctx, out: dst, most: len(dst) + size + 1, looked: len(dst)}
}

// room makes room for n bytes, of which there are at most a piece, and looks at the context now and then.
func (p *pieces) room(n int) error {
	if len(p.out)-p.looked >= piece {
		p.looked = len(p.out)
		if err := p.ctx.Err(); err != nil {
			return err
		}
	}
	if need := len(p.out) + n; need > cap(p.out) {
		p.out = append(make([]byte, 0, max(need, min(p.most, 2*need))), p.out...)
	}
	return nil
}

// full reports whether there is no room for n bytes more.
func (p *pieces) full(n int) bool { return n > p.most-len(p.out) }

// read returns all that r decompresses, or a byte more than there may be. The compressor's name is for the error.
func (p *pieces) read(name string, r io.Reader) ([]byte, error) {
	for !p.full(1) {
		if err := p.room(1); err != nil {
			return nil, err
		}
		end := min(cap(p.out), len(p.out)+piece, p.most)
		n, err := r.Read(p.out[len(p.out):end])
		p.out = p.out[:len(p.out)+n]
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, malformed("%s: %v", name, err)
		}
	}
	return p.out, nil
}

// decodeSnappy decodes the elements of a snappy block, without its length ("Snappy compressed format description").
func (p *pieces) decodeSnappy(b []byte) ([]byte, error) {
	first := len(p.out)
	for len(b) > 0 {
		n, offset, head := snappyElement(b)
		switch {
		case head == 0 || p.full(n) || offset > len(p.out)-first:
			return nil, malformed("snappy: an element that is cut off, too long, or that copies what is not there")
		case offset > 0:
			if err := p.room(n); err != nil {
				return nil, err
			}
			p.repeat(n, offset)
			b = b[head:]
		case n > len(b)-head:
			return nil, malformed("snappy: a literal of %d bytes, of which there are %d", n, len(b)-head)
		default:
			if err := p.literal(b[head : head+n]); err != nil {
				return nil, err
			}
			b = b[head+n:]
		}
	}
	return p.out, nil
}

// literal appends bytes as they are.
func (p *pieces) literal(b []byte) error {
	for len(b) > 0 {
		n := min(len(b), piece)
		if err := p.room(n); err != nil {
			return err
		}
		p.out = append(p.out, b[:n]...)
		b = b[n:]
	}
	return nil
}

// repeat appends n bytes of those that begin offset bytes before the end. It may repeat some that it has just appended.
func (p *pieces) repeat(n, offset int) {
	for n > 0 {
		from := len(p.out) - offset
		k := min(n, offset)
		p.out = append(p.out, p.out[from:from+k]...)
		n -= k
		offset += k
	}
}

// snappyElement reads the head of an element: how many bytes it makes, from which offset it copies them, 0 if they follow as a
// literal, and the length of the head, which is 0 if that is cut off or copies from the offset 0.
func snappyElement(b []byte) (n, offset, head int) {
	tag := int(b[0])
	switch kind := tag & 3; {
	case kind == 0:
		return snappyLiteral(b)
	case kind == 1 && len(b) >= 2:
		n, offset, head = 4+tag>>2&7, tag>>5<<8|int(b[1]), 2
	case kind == 2 && len(b) >= 3:
		n, offset, head = 1+tag>>2, int(binary.LittleEndian.Uint16(b[1:])), 3
	case kind == 3 && len(b) >= 5:
		n, offset, head = 1+tag>>2, int(binary.LittleEndian.Uint32(b[1:])), 5
	}
	if offset == 0 {
		return 0, 0, 0
	}
	return n, offset, head
}

// snappyLiteral reads the head of a literal. Its length is in the tag or, if it is over 60, in the 1 to 4 bytes that follow.
func snappyLiteral(b []byte) (n, offset, head int) {
	n = int(b[0] >> 2)
	if n < 60 {
		return n + 1, 0, 1
	}
	head = n - 59 + 1
	if len(b) < head {
		return 0, 0, 0
	}
	n = 0
	for i := head - 1; i > 0; i-- {
		n = n<<8 | int(b[i])
	}
	return n + 1, 0, head
}
