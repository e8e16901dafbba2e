package wire

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// MsgFlags are the flag bits of an OP_MSG.
type MsgFlags uint32

// The defined flag bits. A reader must refuse an unknown bit among the low sixteen.
const (
	ChecksumPresent MsgFlags = 1 << 0
	MoreToCome      MsgFlags = 1 << 1
	ExhaustAllowed  MsgFlags = 1 << 16

	requiredFlags MsgFlags = 0xffff
	knownRequired          = ChecksumPresent | MoreToCome
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Sequence is a document sequence section. Documents holds the documents one after another.
type Sequence struct {
	Identifier []byte
	Documents  []byte
}

// Msg is one OP_MSG. Its parts alias the bytes it was read from.
type Msg struct {
	Flags     MsgFlags
	Body      []byte
	Sequences []Sequence
}

// BeginMsg writes an OP_MSG up to the kind byte of its body. The caller appends the body document, then any
// sequences, and calls EndMessage with the returned index.
func BeginMsg(dst []byte, requestID, responseTo int32, flags MsgFlags) (int, []byte) {
	at, dst := beginMessage(dst, requestID, responseTo, OpMsg)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(flags))
	return at, append(dst, 0)
}

// BeginSequence begins a document sequence. The caller appends its documents and calls EndSequence with the returned
// index.
func BeginSequence(dst []byte, identifier string) (int, []byte) {
	dst = append(dst, 1)
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = append(dst, identifier...)
	return at, append(dst, 0)
}

// EndSequence sets the size of the sequence that began at index.
func EndSequence(dst []byte, index int) []byte { return EndMessage(dst, index) }

// AppendSequence writes a whole document sequence. documents holds the documents one after another.
func AppendSequence(dst []byte, identifier string, documents []byte) []byte {
	at, dst := BeginSequence(dst, identifier)
	return EndSequence(append(dst, documents...), at)
}

// ParseMsg reads an OP_MSG, header included. The body is required. Of a sequence's documents, the lengths and final
// zero bytes are checked. A checksum is verified if there is one.
func ParseMsg(b []byte) (Msg, error) {
	var m Msg
	err := m.parse(b)
	return m, err
}

func (m *Msg) parse(b []byte) error {
	h, err := ParseHeader(b)
	if err != nil {
		return err
	}
	if h.OpCode != OpMsg {
		return malformed("operation code %d instead of OP_MSG", h.OpCode)
	}
	if int(h.Length) != len(b) || len(b) < HeaderLength+4 {
		return malformed("an OP_MSG of %d bytes states a length of %d", len(b), h.Length)
	}
	m.Flags = MsgFlags(binary.LittleEndian.Uint32(b[HeaderLength:]))
	if unknown := m.Flags & requiredFlags &^ knownRequired; unknown != 0 {
		return malformed("unknown required flag bits 0x%x", uint32(unknown))
	}
	sections := b[HeaderLength+4:]
	if m.Flags&ChecksumPresent != 0 {
		if sections, err = verifyChecksum(b); err != nil {
			return err
		}
	}
	return m.parseSections(sections)
}

// MoreFollow reports whether a message is an OP_MSG whose sender sends another one without being asked (moreToCome).
func MoreFollow(message []byte) bool {
	h, err := ParseHeader(message)
	if err != nil || h.OpCode != OpMsg || len(message) < HeaderLength+4 {
		return false
	}
	return MsgFlags(binary.LittleEndian.Uint32(message[HeaderLength:]))&MoreToCome != 0
}

// CommandName returns the name of the command in an OP_MSG that begins with its body, as [BeginMsg] writes it. It returns nil
// for any other message.
func CommandName(message []byte) []byte {
	const body = HeaderLength + 5 // after the flags and the kind of the section
	const name = body + 5         // after the document's length and the element's type
	h, err := ParseHeader(message)
	if err != nil || h.OpCode != OpMsg || len(message) < name || message[body-1] != 0 {
		return nil
	}
	end := bytes.IndexByte(message[name:], 0)
	if end < 0 {
		return nil
	}
	return message[name : name+end]
}

// verifyChecksum verifies the CRC-32C at the end of the message and returns the sections.
func verifyChecksum(b []byte) ([]byte, error) {
	end := len(b) - 4
	if end < HeaderLength+4 {
		return nil, malformed("a message too short for its checksum")
	}
	if crc32.Checksum(b[:end], castagnoli) != binary.LittleEndian.Uint32(b[end:]) {
		return nil, malformed("the checksum does not match")
	}
	return b[HeaderLength+4 : end], nil
}

func (m *Msg) parseSections(b []byte) error {
	for len(b) > 0 {
		kind, rest := b[0], b[1:]
		var n int
		var err error
		switch kind {
		case 0:
			n, err = m.parseBody(rest)
		case 1:
			n, err = m.parseSequence(rest)
		default:
			err = malformed("a section of unknown kind %d", kind)
		}
		if err != nil {
			return err
		}
		b = rest[n:]
	}
	if m.Body == nil {
		return malformed("an OP_MSG without a body")
	}
	return nil
}

func (m *Msg) parseBody(b []byte) (int, error) {
	if m.Body != nil {
		return 0, malformed("an OP_MSG with two bodies")
	}
	n, err := DocumentLength(b)
	if err == nil {
		m.Body = b[:n:n]
	}
	return n, err
}

func (m *Msg) parseSequence(b []byte) (int, error) {
	if len(b) < 5 {
		return 0, malformed("a document sequence of %d bytes, shorter than 5", len(b))
	}
	size := int(int32(binary.LittleEndian.Uint32(b)))
	if size < 5 || size > len(b) {
		return 0, malformed("the document sequence length is %d, but there are %d bytes", size, len(b))
	}
	id := 4
	for id < size && b[id] != 0 {
		id++
	}
	if id == size {
		return 0, malformed("a document sequence whose identifier has no final zero byte")
	}
	s := Sequence{Identifier: b[4:id], Documents: b[id+1 : size : size]}
	if _, err := s.Count(); err != nil {
		return 0, err
	}
	m.Sequences = append(m.Sequences, s)
	return size, nil
}

// Count returns the number of documents in the sequence.
func (s Sequence) Count() (int, error) {
	count := 0
	for rest := s.Documents; len(rest) > 0; count++ {
		n, err := DocumentLength(rest)
		if err != nil {
			return 0, err
		}
		rest = rest[n:]
	}
	return count, nil
}
