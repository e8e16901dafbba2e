package wire

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"slices"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// OpCompressed wraps another message, compressed.
const OpCompressed int32 = 2012

// Compressor is a compression algorithm. Its value is the compressor ID of OP_COMPRESSED.
type Compressor uint8

// The compressors. NoCompressor wraps a message without compressing it.
const (
	NoCompressor Compressor = iota
	Snappy
	Zlib
	Zstd
)

// CompressorNamed returns the compressor that has this name in a handshake, and reports whether it is supported.
func CompressorNamed(name string) (Compressor, bool) {
	switch name {
	case "snappy":
		return Snappy, true
	case "zlib":
		return Zlib, true
	case "zstd":
		return Zstd, true
	}
	return NoCompressor, false
}

// MayCompress reports whether a command and its reply may be compressed. Commands of the handshake and commands that
// carry a secret may not (wire compression specification).
func MayCompress[T string | []byte](command T) bool {
	switch string(command) {
	case "hello", "isMaster", "ismaster", "saslStart", "saslContinue", "getnonce", "authenticate", "createUser", "updateUser",
		"copydbSaslStart", "copydbgetnonce", "copydb":
		return false
	}
	return true
}

// compressedHead is the number of bytes in an OP_COMPRESSED before the compressed bytes.
const compressedHead = HeaderLength + 9

// Codec compresses and decompresses messages. It keeps its encoders and decoders for the next message. It starts no
// goroutines and is not safe for concurrent use. The zero Codec is ready for use.
type Codec struct {
	// ZlibLevel is zlib's compression level, -1 (zlib's default) to 9. Nil means -1.
	ZlibLevel *int
	// ZstdLevel is zstd's compression level, 1 to 22. Nil or -1 means zstd's default, and so does 0.
	ZstdLevel *int

	encoder *zstd.Encoder
	decoder *zstd.Decoder
	deflate *zlib.Writer
	inflate io.ReadCloser
}

// Compress appends a whole message, header included, to dst as an OP_COMPRESSED with the same ids.
func (c *Codec) Compress(dst, message []byte, with Compressor) ([]byte, error) {
	h, err := ParseHeader(message)
	if err != nil {
		return nil, err
	}
	at, dst := beginMessage(dst, h.RequestID, h.ResponseTo, OpCompressed)
	body := message[HeaderLength:]
	dst = binary.LittleEndian.AppendUint32(dst, uint32(h.OpCode))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(body)))
	dst = append(dst, byte(with))
	if dst, err = c.compress(dst, body, with); err != nil {
		return nil, err
	}
	return EndMessage(dst, at), nil
}

func (c *Codec) compress(dst, body []byte, with Compressor) ([]byte, error) {
	switch with {
	case NoCompressor:
		return append(dst, body...), nil
	case Snappy:
		dst = slices.Grow(dst, snappy.MaxEncodedLen(len(body)))
		return dst[:len(dst)+len(snappy.Encode(dst[len(dst):cap(dst)], body))], nil
	case Zlib:
		return c.encodeZlib(dst, body)
	case Zstd:
		return c.encodeZstd(dst, body)
	}
	return nil, malformed("compressor %d is unknown", with)
}

func (c *Codec) encodeZlib(dst, body []byte) ([]byte, error) {
	out := bytes.NewBuffer(dst)
	if c.deflate == nil {
		level := zlib.DefaultCompression
		if c.ZlibLevel != nil {
			level = *c.ZlibLevel
		}
		w, err := zlib.NewWriterLevel(out, level)
		if err != nil {
			return nil, err
		}
		c.deflate = w
	} else {
		c.deflate.Reset(out)
	}
	_, err := c.deflate.Write(body)
	if err == nil {
		err = c.deflate.Close()
	}
	return out.Bytes(), err
}

// encodeZstd keeps the encoder. With concurrency 1 it runs in this goroutine and needs no Close, but it has a channel: a codec
// that was used in a synctest bubble must not be used outside.
func (c *Codec) encodeZstd(dst, body []byte) ([]byte, error) {
	if c.encoder == nil {
		level := zstd.SpeedDefault
		if c.ZstdLevel != nil && *c.ZstdLevel > 0 {
			level = zstd.EncoderLevelFromZstd(*c.ZstdLevel)
		}
		encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(level))
		if err != nil {
			return nil, err
		}
		c.encoder = encoder
	}
	return c.encoder.EncodeAll(body, dst), nil
}

// Decompress appends the message inside an OP_COMPRESSED, with a header of its own, to dst, and returns the compressor that
// was used. A message longer than limit bytes, or of another length than the stated one, is an error that matches
// ErrMalformed.
func (c *Codec) Decompress(dst, b []byte, limit int) ([]byte, Compressor, error) {
	return c.DecompressContext(context.Background(), dst, b, limit)
}

// DecompressContext is Decompress that also ends with the error of ctx, soon after ctx has ended.
func (c *Codec) DecompressContext(ctx context.Context, dst, b []byte, limit int) ([]byte, Compressor, error) {
	h, err := ParseHeader(b)
	if err != nil {
		return nil, 0, err
	}
	if h.OpCode != OpCompressed || int(h.Length) != len(b) || len(b) < compressedHead {
		return nil, 0, malformed("%d bytes that are not an OP_COMPRESSED", len(b))
	}
	opCode := int32(binary.LittleEndian.Uint32(b[HeaderLength:]))
	size := int(int32(binary.LittleEndian.Uint32(b[HeaderLength+4:])))
	with := Compressor(b[HeaderLength+8])
	if opCode == OpCompressed {
		return nil, 0, malformed("an OP_COMPRESSED inside another one")
	}
	if size < 0 || size > limit-HeaderLength {
		return nil, 0, malformed("a compressed message of %d bytes, over the limit of %d", size, limit)
	}
	at, message := beginMessage(dst, h.RequestID, h.ResponseTo, opCode)
	body := len(message)
	message, err = c.decompress(ctx, message, b[compressedHead:], with, size)
	if err != nil {
		return nil, 0, err
	}
	if len(message)-body != size {
		return nil, 0, malformed("a compressed message states a length of %d bytes and has %d", size, len(message)-body)
	}
	return EndMessage(message, at), with, nil
}

// DecompressedSize returns the size in bytes that the message inside an OP_COMPRESSED states, 0 if b is not one.
func DecompressedSize(b []byte) int {
	h, err := ParseHeader(b)
	if err != nil || h.OpCode != OpCompressed || len(b) < compressedHead {
		return 0
	}
	return max(0, int(int32(binary.LittleEndian.Uint32(b[HeaderLength+4:]))))
}

// wholeMessage is the largest size of a message that is decompressed at once, because that takes less time than a look at the
// context must come after. Longer ones are decompressed in pieces.
const wholeMessage = 256 << 10

// decompress appends the decompressed bytes of b to dst. It may stop one byte after size: a longer message is refused
// anyway.
func (c *Codec) decompress(ctx context.Context, dst, b []byte, with Compressor, size int) ([]byte, error) {
	switch with {
	case NoCompressor:
		return append(dst, b...), nil
	case Snappy:
		return decodeSnappy(ctx, dst, b, size)
	case Zlib:
		return c.decodeZlib(ctx, dst, b, size)
	case Zstd:
		return c.decodeZstd(ctx, dst, b, size)
	}
	return nil, malformed("compressor %d is unknown", with)
}

func decodeSnappy(ctx context.Context, dst, b []byte, size int) ([]byte, error) {
	if n, err := snappy.DecodedLen(b); err != nil || n != size {
		return nil, malformed("snappy states %d bytes (%v), the message states %d", n, err, size)
	}
	if size > wholeMessage {
		_, head := binary.Uvarint(b)
		return begin(ctx, dst, size).decodeSnappy(b[head:])
	}
	dst = slices.Grow(dst, size)
	body, err := snappy.Decode(dst[len(dst):cap(dst)], b)
	if err != nil {
		return nil, malformed("snappy: %v", err)
	}
	return dst[:len(dst)+len(body)], nil
}

func (c *Codec) decodeZlib(ctx context.Context, dst, b []byte, size int) ([]byte, error) {
	var err error
	if reader, ok := c.inflate.(zlib.Resetter); ok {
		err = reader.Reset(bytes.NewReader(b), nil)
	} else {
		c.inflate, err = zlib.NewReader(bytes.NewReader(b))
	}
	if err != nil {
		return nil, malformed("zlib: %v", err)
	}
	return begin(ctx, dst, size).read("zlib", c.inflate)
}

const (
	// largestWindow is the largest window of a zstd frame that is decompressed in pieces, because that needs memory of its size
	// before any bytes come. The servers' frames have smaller ones at all levels but the highest.
	largestWindow = 8 << 20
	// A block of a zstd frame has at least 4 bytes, and becomes at most 128 KiB (RFC 8878).
	leastZstdBlock, largestZstdBlock = 4, 128 << 10
)

func (c *Codec) decodeZstd(ctx context.Context, dst, b []byte, size int) ([]byte, error) {
	if c.decoder == nil {
		decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MaxMessageLength),
			zstd.WithDecodeAllCapLimit(true)) // a frame that is longer than the message states ends there
		if err != nil {
			return nil, err
		}
		c.decoder = decoder
	}
	var head zstd.Header
	_ = head.Decode(b) // the decoder finds what is wrong
	window := head.WindowSize
	if head.SingleSegment {
		window = head.FrameContentSize
	}
	switch {
	case head.HasFCS && head.FrameContentSize != uint64(size):
		return nil, malformed("zstd states %d bytes, the message states %d", head.FrameContentSize, size)
	case size > len(b)/leastZstdBlock*largestZstdBlock:
		return nil, malformed("zstd: %d bytes cannot become %d", len(b), size)
	case size > wholeMessage && window <= largestWindow:
		return c.streamZstd(ctx, dst, b, size)
	}
	out, err := c.decoder.DecodeAll(b, slices.Grow(dst, size))
	if err != nil {
		return nil, malformed("zstd: %v", err)
	}
	return out, nil
}

func (c *Codec) streamZstd(ctx context.Context, dst, b []byte, size int) ([]byte, error) {
	defer func() { _ = c.decoder.Reset(nil) }() // else DecodeAll would wait for ever for what a stream has that was given up
	if err := c.decoder.Reset(bytes.NewReader(b)); err != nil {
		return nil, malformed("zstd: %v", err)
	}
	return begin(ctx, dst, size).read("zstd", c.decoder)
}
