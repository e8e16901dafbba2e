package wire

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/klauspost/compress/snappy"
)

// patience is a context that ends when it was looked at so many times.
type patience struct {
	context.Context
	looks int
}

func (p *patience) Err() error {
	if p.looks--; p.looks < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// inflating returns a short OP_COMPRESSED of a message of size bytes.
func inflating(t *testing.T, c *Codec, size int, with Compressor) []byte {
	t.Helper()
	at, message := beginMessage(nil, 7, 8, OpMsg)
	wrapped, err := c.Compress(nil, EndMessage(append(message, make([]byte, size)...), at), with)
	if err != nil {
		t.Fatal(err)
	}
	return wrapped
}

// A short message may take a second until it is 40 MB. Its operation ends before.
func TestDecompressionEndsWithItsContext(t *testing.T) {
	synctest.Test(t, decompressionEnds) // a bubble ends if a decoder waits for ever
}

func decompressionEnds(t *testing.T) {
	const size, unlimited = 16 * piece, 1 << 30
	for _, with := range compressors[1:] {
		var c Codec
		wrapped := inflating(t, &c, size, with)
		ctx := &patience{context.Background(), unlimited}
		if got, _, err := c.DecompressContext(ctx, nil, wrapped, MaxMessageLength); err != nil || len(got) != HeaderLength+size {
			t.Fatalf("compressor %d: %d bytes, %v", with, len(got), err)
		}
		if looks := unlimited - ctx.looks; looks < size/piece/3 || looks > size/piece+1 {
			t.Errorf("compressor %d: %d looks at the context in %d bytes", with, looks, size)
		}
		ctx.looks = 3
		if _, _, err := c.DecompressContext(ctx, nil, wrapped, MaxMessageLength); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrMalformed) ||
			ctx.looks != -1 {
			t.Errorf("compressor %d: %v, with %d looks left", with, err, ctx.looks)
		}
		for _, size := range []int{100, size} { // decompressed at once, and in pieces
			got, _, err := c.Decompress(nil, inflating(t, &c, size, with), MaxMessageLength)
			if err != nil || len(got) != HeaderLength+size {
				t.Errorf("compressor %d, after a message that was given up: %d bytes of %d, %v", with, len(got), size, err)
			}
		}
	}
}

// blocks is a zstd frame of that head, with n blocks of 128 KiB, each of one byte that is repeated (RFC 8878).
func blocks(n int, head ...byte) []byte {
	frame := append([]byte{0x28, 0xb5, 0x2f, 0xfd}, head...)
	for i := range n {
		last := uint32((i + 1) / n)
		header := 128<<10<<3 | 1<<1 | last
		frame = append(frame, byte(header), byte(header>>8), byte(header>>16), 'x')
	}
	return frame
}

// A length that is stated and wrong costs little memory, and so does a message that becomes longer than it states.
func TestNoMemoryIsTakenForWrongLengths(t *testing.T) {
	const most = MaxMessageLength - HeaderLength
	length := binary.LittleEndian.AppendUint32(nil, most)
	zlib := func(size int) []byte { return inflating(t, new(Codec), size, Zlib)[compressedHead:] }
	for name, m := range map[string]struct {
		with   Compressor
		stated uint32
		body   []byte
		valid  bool
	}{
		"zlib that is shorter":           {Zlib, most, zlib(100), false},
		"zlib that is longer":            {Zlib, 10, zlib(4 << 20), false},
		"snappy that is shorter":         {Snappy, most, append(binary.AppendUvarint(nil, most), 0, 'x'), false},
		"zstd that is shorter":           {Zstd, most, blocks(1, append([]byte{0xa0}, length...)...), false}, // one segment, as long as the frame
		"zstd without a window":          {Zstd, most, blocks(40, append([]byte{0x80, 0x68}, length...)...), false},
		"zstd that is longer":            {Zstd, 100, blocks(300, 0, 0x68), false}, // a frame without a length
		"zstd that is longer, in pieces": {Zstd, 1 << 20, blocks(300, 0, 0), false},
		"no zstd":                        {Zstd, most, bytes.Repeat([]byte{1}, 2000), false},
		"zstd with a window of 32 MiB":   {Zstd, 1 << 20, blocks(8, 0, 15<<3), true},
	} {
		at, wrapped := beginMessage(nil, 1, 0, OpCompressed)
		wrapped = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(wrapped, uint32(OpMsg)), m.stated)
		wrapped = EndMessage(append(append(wrapped, byte(m.with)), m.body...), at)
		var c Codec
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, _, err := c.Decompress(nil, wrapped, MaxMessageLength); errors.Is(err, ErrMalformed) == m.valid {
			t.Errorf("%s: %v", name, err)
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20 {
			t.Errorf("%s: %d bytes were allocated", name, n)
		}
	}
}

// elements are a snappy block of each kind of element, and what it becomes.
func elements() (block []byte, want string) {
	long := bytes.Repeat([]byte("0123456789"), 7)
	block = append([]byte{2 << 2}, "abc"...)                          // a literal
	block = append(block, 1|(5-4)<<2, 3)                              // 5 bytes from 3 before, two of which it has made itself
	block = append(append(block, 60<<2, byte(len(long)-1)), long...)  // a literal whose length follows in a byte
	block = append(append(block, 61<<2, 1, 0), "de"...)               // in two
	block = append(append(block, 62<<2, 1, 0, 0), "fg"...)            // in three
	block = append(append(block, 63<<2, 0, 0, 0, 0), 'h')             // in four
	block = append(block, 2|(64-1)<<2, 75, 0, 3|(2-1)<<2, 1, 0, 0, 0) // copies with offsets of two and four bytes
	want = "abcabcab" + string(long) + "defgh"
	return block, want + want[8:8+64] + "33"
}

func TestEachElementOfASnappyBlock(t *testing.T) {
	block, want := elements()
	got, err := begin(context.Background(), []byte("before"), len(want)).decodeSnappy(block)
	if err != nil || string(got) != "before"+want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	library, err := snappy.Decode(nil, append(binary.AppendUvarint(nil, uint64(len(want))), block...))
	if err != nil || string(library) != want {
		t.Errorf("the library has %q, %v", library, err)
	}
	for i := range block { // cut off anywhere, it is malformed or shorter
		if got, err := begin(context.Background(), nil, len(want)).decodeSnappy(block[:i]); err == nil && len(got) >= len(want) || err != nil && !errors.Is(err, ErrMalformed) {
			t.Errorf("%d bytes of %d: %q, %v", i, len(block), got, err)
		}
	}
	for _, malformed := range []string{"\x01\x01", "\x00a\x01\x00", "\x00a\x01\x02", "\x00a\x02\x02\x00", "\x00a\x03\x01\x00\x00\x80"} {
		if got, err := begin(context.Background(), []byte("before"), 100).decodeSnappy([]byte(malformed)); !errors.Is(err, ErrMalformed) {
			t.Errorf("% x: %q, %v", malformed, got, err)
		}
	}
	if _, err := begin(context.Background(), nil, len(want)-2).decodeSnappy(block); !errors.Is(err, ErrMalformed) {
		t.Errorf("a block that is longer than stated: %v", err)
	}
}

// Whatever a block is: it becomes what the library makes of it, or is refused.
func TestSnappyInPiecesIsWhatTheLibraryMakes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	valid := 0
	for range 400 {
		text := make([]byte, r.IntN(3000))
		for i := range text {
			text[i] = "ab"[r.IntN(2)]
			if i > 100 && r.IntN(3) == 0 {
				text[i] = text[i-100]
			}
		}
		block := snappy.Encode(nil, text)
		for range r.IntN(3) {
			block[r.IntN(len(block))] ^= byte(1 << r.IntN(8))
		}
		size, head := binary.Uvarint(block)
		if head <= 0 || size > 10_000 {
			continue
		}
		got, err := begin(context.Background(), nil, int(size)).decodeSnappy(block[head:])
		if err != nil || len(got) != int(size) {
			continue
		}
		valid++
		if want, err := snappy.Decode(nil, block); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("% x becomes %q, want %q (%v)", block, got, want, err)
		}
	}
	if valid < 130 {
		t.Errorf("only %d blocks were valid", valid)
	}
}
