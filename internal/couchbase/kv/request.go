package kv

import (
	"fmt"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// Request is a packet to send, and when its caller leaves. Its slices are only read, until [Conn.RoundTrip] returns.
type Request struct {
	Opcode   memd.Opcode
	DataType memd.DataType
	VBucket  uint16
	CAS      uint64
	// Frames are framing extras. With them the packet is a flexible one, which the server must have accepted.
	Frames []byte
	Extras []byte
	// Collection is the id of the collection as it stands before the key, or empty.
	Collection []byte
	Key        []byte
	Value      []byte

	// Deadline is when the caller leaves. Zero means never.
	Deadline time.Time
	// Cancelled, when it is closed, lets the caller leave, some 2 ms later at most, or 5 ms while many requests are made. Nil means never.
	Cancelled <-chan struct{}
	// Started is told to [Config.OnOrphan] if the reply comes after the caller has left. It may be zero.
	Started time.Time
}

// Reply is the answer to a request, whatever its status. A compressed value has been inflated.
type Reply struct {
	memd.Packet
	// Body is the memory of the packet's parts, which belongs to the caller. It is nil if all parts are empty.
	Body []byte
}

// mostKey is more than the size in bytes of a collection id and of the longest key that a server accepts. Longer keys are sent too,
// for the server to refuse.
const mostKey = 256

// appendTo writes the packet to the end of dst.
func (r *Request) appendTo(dst []byte, opaque uint32, dataType memd.DataType, value []byte) ([]byte, error) {
	p := memd.Packet{
		Magic: memd.MagicRequest, Opcode: r.Opcode, DataType: dataType, VBucket: r.VBucket, Opaque: opaque, CAS: r.CAS,
		Frames: r.Frames, Extras: r.Extras, Key: r.Key, Value: value,
	}
	if len(r.Frames) > 0 {
		p.Magic = memd.MagicFlexibleRequest
	}
	var room [mostKey]byte
	if len(r.Collection) > 0 {
		p.Key = append(append(room[:0], r.Collection...), r.Key...)
	}
	dst, err := p.Append(dst)
	if err != nil {
		return dst, fmt.Errorf("the request %v cannot be sent: %w", r.Opcode, err)
	}
	return dst, nil
}
