package memd

import "encoding/binary"

// ObservedSeqno is the answer to OBSERVE_SEQNO: how far a node is.
type ObservedSeqno struct {
	VBucket     uint16
	VBucketUUID uint64
	Persisted   uint64
	Current     uint64
	// FailedOver means that the asked history ended by a failover, OldUUID with OldSeqno as its last.
	FailedOver bool
	OldUUID    uint64
	OldSeqno   uint64
}

// The sizes of the answer to OBSERVE_SEQNO, without and after a failover.
const (
	observedLength   = 27
	failedOverLength = 43
)

// AppendObservedSeqno writes the value of the answer to OBSERVE_SEQNO.
func AppendObservedSeqno(dst []byte, o ObservedSeqno) []byte {
	var format byte
	if o.FailedOver {
		format = 1
	}
	dst = binary.BigEndian.AppendUint16(append(dst, format), o.VBucket)
	for _, n := range []uint64{o.VBucketUUID, o.Persisted, o.Current} {
		dst = binary.BigEndian.AppendUint64(dst, n)
	}
	if o.FailedOver {
		dst = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, o.OldUUID), o.OldSeqno)
	}
	return dst
}

// ParseObservedSeqno reads the value of the answer to OBSERVE_SEQNO.
func ParseObservedSeqno(value []byte) (ObservedSeqno, error) {
	plain := len(value) == observedLength && value[0] == 0
	after := len(value) == failedOverLength && value[0] == 1
	if !plain && !after {
		return ObservedSeqno{}, malformed("an answer of %d bytes to OBSERVE_SEQNO; it must be format 0 with %d or format 1 with %d",
			len(value), observedLength, failedOverLength)
	}
	o := ObservedSeqno{
		VBucket: binary.BigEndian.Uint16(value[1:]), VBucketUUID: binary.BigEndian.Uint64(value[3:]),
		Persisted: binary.BigEndian.Uint64(value[11:]), Current: binary.BigEndian.Uint64(value[19:]), FailedOver: after,
	}
	if after {
		o.OldUUID, o.OldSeqno = binary.BigEndian.Uint64(value[27:]), binary.BigEndian.Uint64(value[35:])
	}
	return o, nil
}

// KeyState is what a node has of a document.
type KeyState byte

// The states.
const (
	KeyInMemory         KeyState = 0x00
	KeyPersisted        KeyState = 0x01
	KeyNotFound         KeyState = 0x80
	KeyDeletedPersisted KeyState = 0x81
)

// AppendObserveKey writes a document's key as the value of OBSERVE.
func AppendObserveKey(dst []byte, vbucket uint16, key []byte) []byte {
	dst = binary.BigEndian.AppendUint16(dst, vbucket)
	return append(binary.BigEndian.AppendUint16(dst, uint16(len(key))), key...)
}

// CutObserveKey reads a document's key from the value of OBSERVE or of its answer.
func CutObserveKey(value []byte) (vbucket uint16, key, others []byte, err error) {
	if len(value) < 4 {
		return 0, nil, nil, malformed("a key to observe in %d bytes", len(value))
	}
	n := int(binary.BigEndian.Uint16(value[2:]))
	if n > len(value)-4 {
		return 0, nil, nil, malformed("a key to observe with %d of %d bytes", len(value)-4, n)
	}
	key, others = cut(value[4:], n)
	return binary.BigEndian.Uint16(value), key, others, nil
}

// AppendObserved writes the state of a document after its key in the answer to OBSERVE.
func AppendObserved(dst []byte, state KeyState, cas uint64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, byte(state)), cas)
}

// ParseObserved reads the answer to OBSERVE of one document.
func ParseObserved(value []byte) (state KeyState, cas uint64, err error) {
	_, _, others, err := CutObserveKey(value)
	if err != nil {
		return 0, 0, err
	}
	if len(others) != 9 {
		return 0, 0, malformed("an observed state of %d bytes; it must be 9", len(others))
	}
	return KeyState(others[0]), binary.BigEndian.Uint64(others[1:]), nil
}
