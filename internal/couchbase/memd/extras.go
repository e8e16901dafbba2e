package memd

import "encoding/binary"

// MutationToken names a write: the history of the vbucket and the place in it.
type MutationToken struct {
	VBucketUUID uint64
	Seqno       uint64
}

// AppendMutationToken writes the extras of a reply to a write.
func AppendMutationToken(dst []byte, t MutationToken) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, t.VBucketUUID), t.Seqno)
}

// ParseMutationToken reads the extras of a reply to a write. It reports false if there is none, because it was not negotiated.
func ParseMutationToken(extras []byte) (t MutationToken, ok bool, err error) {
	switch len(extras) {
	case 0:
		return t, false, nil
	case 16:
		return MutationToken{binary.BigEndian.Uint64(extras), binary.BigEndian.Uint64(extras[8:])}, true, nil
	}
	return t, false, malformed("a mutation token of %d bytes; it must be 16", len(extras))
}

// AppendStore writes the extras of SET, ADD and REPLACE.
func AppendStore(dst []byte, flags, expiry uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(dst, flags), expiry)
}

// ParseStore reads the extras of SET, ADD and REPLACE.
func ParseStore(extras []byte) (flags, expiry uint32, err error) {
	if len(extras) != 8 {
		return 0, 0, malformed("extras of %d bytes; a store has 8", len(extras))
	}
	return binary.BigEndian.Uint32(extras), binary.BigEndian.Uint32(extras[4:]), nil
}

// NoCreate is the expiry of a counter that is not created if it does not exist.
const NoCreate = 0xffff_ffff

// Counter has the extras of INCREMENT and DECREMENT.
type Counter struct {
	Delta   uint64
	Initial uint64
	Expiry  uint32 // or NoCreate
}

// AppendCounter writes the extras of INCREMENT and DECREMENT.
func AppendCounter(dst []byte, c Counter) []byte {
	dst = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, c.Delta), c.Initial)
	return binary.BigEndian.AppendUint32(dst, c.Expiry)
}

// ParseCounter reads the extras of INCREMENT and DECREMENT.
func ParseCounter(extras []byte) (Counter, error) {
	if len(extras) != 20 {
		return Counter{}, malformed("extras of %d bytes; a counter has 20", len(extras))
	}
	return Counter{binary.BigEndian.Uint64(extras), binary.BigEndian.Uint64(extras[8:]), binary.BigEndian.Uint32(extras[16:])}, nil
}

// ParseUint32 reads extras of four bytes: flags, an expiry or a lock time.
func ParseUint32(extras []byte) (uint32, error) {
	if len(extras) != 4 {
		return 0, malformed("extras of %d bytes; they must be 4", len(extras))
	}
	return binary.BigEndian.Uint32(extras), nil
}

// ParseUint64 reads the value of a counter.
func ParseUint64(value []byte) (uint64, error) {
	if len(value) != 8 {
		return 0, malformed("a counter of %d bytes; it must be 8", len(value))
	}
	return binary.BigEndian.Uint64(value), nil
}

// MapVersion is the version of a cluster map. A larger epoch is newer; with equal epochs a larger revision is.
type MapVersion struct {
	Epoch    int64
	Revision int64
}

// Newer reports whether v is newer than other.
func (v MapVersion) Newer(other MapVersion) bool {
	return v.Epoch > other.Epoch || v.Epoch == other.Epoch && v.Revision > other.Revision
}

// AppendMapVersion writes the extras of GET_CLUSTER_CONFIG, and of the server request that tells of a map.
func AppendMapVersion(dst []byte, v MapVersion) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, uint64(v.Epoch)), uint64(v.Revision))
}

// ParseMapVersion reads the extras of GET_CLUSTER_CONFIG, and of the server request that tells of a map. Older servers tell only a
// revision, in four bytes.
func ParseMapVersion(extras []byte) (MapVersion, error) {
	switch len(extras) {
	case 4:
		return MapVersion{Revision: int64(binary.BigEndian.Uint32(extras))}, nil
	case 16:
		return MapVersion{int64(binary.BigEndian.Uint64(extras)), int64(binary.BigEndian.Uint64(extras[8:]))}, nil
	}
	return MapVersion{}, malformed("a map version of %d bytes; it must be 4 or 16", len(extras))
}

// CollectionID is the answer to COLLECTIONS_GET_ID and COLLECTIONS_GET_SCOPE_ID.
type CollectionID struct {
	ManifestUID uint64
	ID          uint32
}

// AppendCollection writes the extras of the answer.
func AppendCollection(dst []byte, c CollectionID) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(dst, c.ManifestUID), c.ID)
}

// ParseCollection reads the extras of the answer.
func ParseCollection(extras []byte) (CollectionID, error) {
	if len(extras) != 12 {
		return CollectionID{}, malformed("a collection id of %d bytes; it must be 12", len(extras))
	}
	return CollectionID{binary.BigEndian.Uint64(extras), binary.BigEndian.Uint32(extras[8:])}, nil
}
