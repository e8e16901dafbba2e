package memd

import "github.com/klauspost/compress/snappy"

// MaxInflated is the size in bytes of the largest value that is inflated.
const MaxInflated = MaxPacketLength

// Inflate returns the value of a compressed packet. It checks the stated length before it allocates.
func Inflate(value []byte) ([]byte, error) {
	n, err := snappy.DecodedLen(value)
	if err != nil {
		return nil, malformed("a compressed value: %v", err)
	}
	if n > MaxInflated {
		return nil, malformed("a compressed value of %d bytes, over the limit of %d", n, MaxInflated)
	}
	if n > maxRatio*len(value) {
		return nil, malformed("a compressed value that states %d bytes and has %d", n, len(value))
	}
	inflated, err := snappy.Decode(nil, value)
	if err != nil {
		return nil, malformed("a compressed value: %v", err)
	}
	return inflated, nil
}

// maxRatio is more than the format can shrink a value: its longest copy makes 64 bytes of 3.
const maxRatio = 64

// Deflate returns the compressed value. It reports false if the value is shorter than minSize bytes, or if the compressed one
// is not smaller than minRatio times the value.
func Deflate(value []byte, minSize int, minRatio float64) ([]byte, bool) {
	if len(value) < minSize {
		return nil, false
	}
	deflated := snappy.Encode(nil, value)
	return deflated, float64(len(deflated)) < minRatio*float64(len(value))
}

// Compressible reports whether a server accepts the command with a compressed value.
func (o Opcode) Compressible() bool {
	return o == OpSet || o == OpAdd || o == OpReplace || o == OpAppend || o == OpPrepend
}
