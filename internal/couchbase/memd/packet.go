package memd

import (
	"encoding/binary"
	"io"

	"github.com/holdfast-db/holdfast/internal/base/sizedread"
)

// Packet is one message between a client and a server. A response has a Status, every other packet a VBucket.
type Packet struct {
	Magic    Magic
	Opcode   Opcode
	DataType DataType
	VBucket  uint16
	Status   Status
	Opaque   uint32
	CAS      uint64
	Frames   []byte // the framing extras, which only flexible packets have
	Extras   []byte
	Key      []byte // of a document, with the id of its collection before it
	Value    []byte
}

// Parse reads one packet, which must be all of b.
func Parse(b []byte) (Packet, error) {
	h, err := parseHeader(b)
	if err != nil {
		return Packet{}, err
	}
	if have := len(b) - HeaderLength; have != h.bodySize {
		return Packet{}, malformed("%d bytes after the header, which states %d", have, h.bodySize)
	}
	p := Packet{Magic: h.magic, Opcode: h.opcode, DataType: h.dataType, Opaque: h.opaque, CAS: h.cas}
	if h.magic.IsResponse() {
		p.Status = Status(h.vbucketOrStatus)
	} else {
		p.VBucket = h.vbucketOrStatus
	}
	body := b[HeaderLength:]
	p.Frames, body = cut(body, h.frames)
	p.Extras, body = cut(body, h.extras)
	p.Key, p.Value = cut(body, h.key)
	return p, nil
}

// cut returns the first n bytes and the others.
func cut(b []byte, n int) (first, others []byte) { return b[:n:n], b[n:] }

// The longest parts of a packet, in bytes. They follow from the lengths' sizes in the header.
const (
	maxFrames      = 1<<8 - 1
	maxExtras      = 1<<8 - 1
	maxKey         = 1<<16 - 1
	maxFlexibleKey = 1<<8 - 1
)

// Append writes the packet to the end of dst. If a part is too long for its field, Append returns dst as it was and an error.
func (p *Packet) Append(dst []byte) ([]byte, error) {
	if err := p.check(); err != nil {
		return dst, err
	}
	dst = append(dst, byte(p.Magic), byte(p.Opcode))
	if p.Magic.flexible() {
		dst = append(dst, byte(len(p.Frames)), byte(len(p.Key)))
	} else {
		dst = binary.BigEndian.AppendUint16(dst, uint16(len(p.Key)))
	}
	dst = append(dst, byte(len(p.Extras)), byte(p.DataType))
	if p.Magic.IsResponse() {
		dst = binary.BigEndian.AppendUint16(dst, uint16(p.Status))
	} else {
		dst = binary.BigEndian.AppendUint16(dst, p.VBucket)
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(p.bodySize()))
	dst = binary.BigEndian.AppendUint32(dst, p.Opaque)
	dst = binary.BigEndian.AppendUint64(dst, p.CAS)
	dst = append(dst, p.Frames...)
	dst = append(dst, p.Extras...)
	dst = append(dst, p.Key...)
	return append(dst, p.Value...), nil
}

func (p *Packet) bodySize() int { return len(p.Frames) + len(p.Extras) + len(p.Key) + len(p.Value) }

func (p *Packet) check() error {
	key := maxKey
	if p.Magic.flexible() {
		key = maxFlexibleKey
	}
	switch {
	case !p.Magic.known():
		return malformed("it begins with %v", p.Magic)
	case len(p.Frames) > 0 && !p.Magic.flexible():
		return malformed("a %v has no framing extras", p.Magic)
	case len(p.Frames) > maxFrames:
		return malformed("framing extras of %d bytes, over the limit of %d", len(p.Frames), maxFrames)
	case len(p.Extras) > maxExtras:
		return malformed("extras of %d bytes, over the limit of %d", len(p.Extras), maxExtras)
	case len(p.Key) > key:
		return malformed("a key of %d bytes, over the limit of %d of a %v", len(p.Key), key, p.Magic)
	case p.bodySize() > MaxPacketLength-HeaderLength:
		return malformed("a body of %d bytes, over the limit of %d", p.bodySize(), MaxPacketLength-HeaderLength)
	}
	return nil
}

// Read reads the bytes of one packet from r into buf, which it grows as needed, and returns them. io.EOF means that r ended
// between packets.
func Read(r io.Reader, buf []byte) ([]byte, error) {
	return sizedread.Message(r, buf, HeaderLength, PacketLength)
}
