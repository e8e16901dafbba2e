package memd

import (
	"encoding/binary"
	"math"
	"time"
)

// FrameKind is the kind of a framing extra. Requests and responses number theirs apart.
type FrameKind uint16

// The framing extras of requests.
const (
	FrameBarrier        FrameKind = 0 // the server executes the request after those before it, and before those after it
	FrameDurability     FrameKind = 1
	FrameImpersonate    FrameKind = 4
	FramePreserveExpiry FrameKind = 5
)

// The framing extras of responses.
const (
	FrameServerDuration FrameKind = 0
	FrameReadUnits      FrameKind = 1
	FrameWriteUnits     FrameKind = 2
	FrameThrottled      FrameKind = 3
)

// escape in a half byte means that the value is escape plus the next byte.
const escape = 15

// maxFramePart is the largest kind and the largest length that can be written.
const maxFramePart = escape + math.MaxUint8

// AppendFrame writes a framing extra. If the kind or the length cannot be written, it returns dst as it was and an error.
func AppendFrame(dst []byte, kind FrameKind, data []byte) ([]byte, error) {
	if kind > maxFramePart || len(data) > maxFramePart {
		return dst, malformed("the framing extra %d with %d bytes, over the limit of %d for both", kind, len(data), maxFramePart)
	}
	high, low := min(int(kind), escape), min(len(data), escape)
	dst = append(dst, byte(high<<4|low))
	if high == escape {
		dst = append(dst, byte(kind-escape))
	}
	if low == escape {
		dst = append(dst, byte(len(data)-escape))
	}
	return append(dst, data...), nil
}

// Frame is one framing extra.
type Frame struct {
	Kind FrameKind
	Data []byte
}

// NextFrame returns the first of some framing extras and the others.
func NextFrame(b []byte) (f Frame, others []byte, err error) {
	if len(b) == 0 {
		return Frame{}, nil, malformed("no framing extra")
	}
	kind, length := int(b[0]>>4), int(b[0]&escape)
	b = b[1:]
	for _, part := range []*int{&kind, &length} {
		if *part != escape {
			continue
		}
		if len(b) == 0 {
			return Frame{}, nil, malformed("a framing extra ends in its first bytes")
		}
		*part += int(b[0])
		b = b[1:]
	}
	if length > len(b) {
		return Frame{}, nil, malformed("the framing extra %d has %d of %d bytes", kind, len(b), length)
	}
	f.Kind = FrameKind(kind)
	f.Data, others = cut(b, length)
	return f, others, nil
}

// FindFrame returns the data of the first framing extra of a kind. It reports false if there is none.
func FindFrame(b []byte, kind FrameKind) (data []byte, found bool, err error) {
	for len(b) > 0 {
		f, others, err := NextFrame(b)
		if err != nil {
			return nil, false, err
		}
		if f.Kind == kind {
			return f.Data, true, nil
		}
		b = others
	}
	return nil, false, nil
}

// DurabilityLevel says which nodes must have a write before the server acknowledges it.
type DurabilityLevel byte

// The levels.
const (
	DurabilityMajority        DurabilityLevel = 1 // a majority has it in memory
	DurabilityMajorityPersist DurabilityLevel = 2 // a majority has it in memory, and the active node on disk
	DurabilityPersistMajority DurabilityLevel = 3 // a majority has it on disk
)

// The smallest and the largest timeout of a durable write. Servers refuse 0 and 65,535.
const (
	minDurabilityTimeout = time.Millisecond
	maxDurabilityTimeout = (math.MaxUint16 - 1) * time.Millisecond
)

// AppendDurability writes the framing extra of a durable write. A timeout of 0 means the server's own; any other is rounded up
// to milliseconds, and limited to those that servers accept.
func AppendDurability(dst []byte, level DurabilityLevel, timeout time.Duration) []byte {
	if timeout == 0 {
		return append(dst, byte(FrameDurability)<<4|1, byte(level))
	}
	timeout = min(max(timeout, minDurabilityTimeout), maxDurabilityTimeout)
	dst = append(dst, byte(FrameDurability)<<4|3, byte(level))
	return binary.BigEndian.AppendUint16(dst, uint16((timeout+time.Millisecond-1)/time.Millisecond))
}

// Durability reads the data of a durability frame. A timeout of 0 means that there is none.
func Durability(data []byte) (level DurabilityLevel, timeout time.Duration, err error) {
	switch len(data) {
	case 1:
		return DurabilityLevel(data[0]), 0, nil
	case 3:
		return DurabilityLevel(data[0]), time.Duration(binary.BigEndian.Uint16(data[1:])) * time.Millisecond, nil
	}
	return 0, 0, malformed("a durability frame of %d bytes; it must be 1 or 3", len(data))
}

// AppendPreserveExpiry writes the framing extra that keeps the expiry of the document.
func AppendPreserveExpiry(dst []byte) []byte { return append(dst, byte(FramePreserveExpiry)<<4) }

// durationExponent is the power by which servers spread durations over two bytes.
const durationExponent = 1.74

// AppendServerDuration writes the framing extra with the time that the server needed.
func AppendServerDuration(dst []byte, d time.Duration) []byte {
	micros := max(0, float64(d)/float64(time.Microsecond))
	encoded := min(math.Round(math.Pow(micros*2, 1/durationExponent)), math.MaxUint16)
	return binary.BigEndian.AppendUint16(append(dst, byte(FrameServerDuration)<<4|2), uint16(encoded))
}

// ServerDuration reads the data of a frame with the time that the server needed. Its error is at most some percent.
func ServerDuration(data []byte) (time.Duration, error) {
	if len(data) != 2 {
		return 0, malformed("a server duration of %d bytes; it must be 2", len(data))
	}
	micros := math.Round(math.Pow(float64(binary.BigEndian.Uint16(data)), durationExponent) / 2)
	return time.Duration(micros) * time.Microsecond, nil
}
