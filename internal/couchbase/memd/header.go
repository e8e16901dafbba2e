package memd

import "encoding/binary"

// HeaderLength is the size of a packet's header in bytes.
const HeaderLength = 24

// MaxPacketLength is the size in bytes of the largest packet that a server accepts, header included.
const MaxPacketLength = 30 << 20

// header is the first part of a packet.
type header struct {
	magic                         Magic
	opcode                        Opcode
	frames, key, extras, bodySize int
	dataType                      DataType
	vbucketOrStatus               uint16
	opaque                        uint32
	cas                           uint64
}

// parseHeader reads the header at the start of b and checks the lengths that it states.
func parseHeader(b []byte) (header, error) {
	if len(b) < HeaderLength {
		return header{}, malformed("%d bytes, fewer than the %d of a header", len(b), HeaderLength)
	}
	h := header{
		magic: Magic(b[0]), opcode: Opcode(b[1]), key: int(binary.BigEndian.Uint16(b[2:])), extras: int(b[4]), dataType: DataType(b[5]),
		vbucketOrStatus: binary.BigEndian.Uint16(b[6:]), opaque: binary.BigEndian.Uint32(b[12:]), cas: binary.BigEndian.Uint64(b[16:]),
	}
	if !h.magic.known() {
		return header{}, malformed("it begins with %v", h.magic)
	}
	if h.magic.flexible() {
		h.frames, h.key = int(b[2]), int(b[3])
	}
	body := binary.BigEndian.Uint32(b[8:])
	if body > MaxPacketLength-HeaderLength {
		return header{}, malformed("a body of %d bytes, over the limit of %d", body, MaxPacketLength-HeaderLength)
	}
	h.bodySize = int(body)
	if parts := h.frames + h.extras + h.key; parts > h.bodySize {
		return header{}, malformed("a body of %d bytes, fewer than the %d of its framing extras, extras and key", h.bodySize, parts)
	}
	return h, nil
}

// PacketLength returns the size in bytes of the packet that begins with the header at the start of b.
func PacketLength(b []byte) (int, error) {
	h, err := parseHeader(b)
	if err != nil {
		return 0, err
	}
	return HeaderLength + h.bodySize, nil
}
