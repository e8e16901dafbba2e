package memd

// MaxCollectionID is the size in bytes of the longest encoded collection id.
const MaxCollectionID = 5

// AppendCollectionID writes the id of a collection as it stands before a document's key: unsigned LEB128.
func AppendCollectionID(dst []byte, id uint32) []byte {
	for ; id >= 0x80; id >>= 7 {
		dst = append(dst, byte(id)|0x80)
	}
	return append(dst, byte(id))
}

// CutCollectionID reads the id of a collection and returns the document's key after it. The encoding must be the shortest one.
func CutCollectionID(b []byte) (id uint32, key []byte, err error) {
	var value uint64
	for i := range min(len(b), MaxCollectionID) {
		value |= uint64(b[i]&0x7f) << (7 * i)
		if b[i] >= 0x80 {
			continue
		}
		switch {
		case i > 0 && b[i] == 0:
			return 0, nil, malformed("the collection id %x is not as short as it can be", b[:i+1])
		case value > 0xffff_ffff:
			return 0, nil, malformed("the collection id %x is larger than 32 bits", b[:i+1])
		}
		return uint32(value), b[i+1:], nil
	}
	return 0, nil, malformed("a key of %d bytes without the end of its collection id", len(b))
}
