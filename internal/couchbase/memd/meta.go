package memd

import "encoding/binary"

// Meta is the answer to GET_META.
type Meta struct {
	Deleted  bool
	Flags    uint32
	Expiry   uint32
	Seqno    uint64
	DataType DataType
}

// metaLength is the size of the extras with a data type, which a client asks for by the extras of its request.
const metaLength = 21

// MetaVersion is the extras of GET_META that ask for the data type too.
const MetaVersion = 2

// AppendMeta writes the extras of the answer to GET_META.
func AppendMeta(dst []byte, m Meta) []byte {
	var deleted uint32
	if m.Deleted {
		deleted = 1
	}
	dst = binary.BigEndian.AppendUint32(dst, deleted)
	dst = binary.BigEndian.AppendUint32(dst, m.Flags)
	dst = binary.BigEndian.AppendUint32(dst, m.Expiry)
	dst = binary.BigEndian.AppendUint64(dst, m.Seqno)
	return append(dst, byte(m.DataType))
}

// ParseMeta reads the extras of the answer to GET_META.
func ParseMeta(extras []byte) (Meta, error) {
	if len(extras) != metaLength {
		return Meta{}, malformed("metadata of %d bytes; they must be %d", len(extras), metaLength)
	}
	return Meta{
		Deleted: binary.BigEndian.Uint32(extras) != 0, Flags: binary.BigEndian.Uint32(extras[4:]), Expiry: binary.BigEndian.Uint32(extras[8:]),
		Seqno: binary.BigEndian.Uint64(extras[12:]), DataType: DataType(extras[20]),
	}, nil
}
