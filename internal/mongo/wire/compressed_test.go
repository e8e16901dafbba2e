package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
)

var compressors = []Compressor{NoCompressor, Snappy, Zlib, Zstd}

func TestDecompressRestoresTheMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the bubble ends only if the codec leaves no goroutine
		var c Codec
		for _, with := range compressors {
			for _, n := range []int{0, 1, 100, 1 << 20} {
				at, message := beginMessage(nil, 7, 8, OpMsg)
				message = EndMessage(append(message, bytes.Repeat([]byte("holdfast"), n)...), at)
				wrapped, err := c.Compress(nil, message, with)
				if err != nil {
					t.Fatal(err)
				}
				got, by, err := c.Decompress(nil, wrapped, MaxMessageLength)
				if err != nil || by != with || !bytes.Equal(got, message) {
					t.Errorf("compressor %d, %d words: %d bytes came back of %d, by %d (%v)", with, n, len(got), len(message), by, err)
				}
				if h, _ := ParseHeader(wrapped); h.RequestID != 7 || h.ResponseTo != 8 || h.OpCode != OpCompressed {
					t.Errorf("compressor %d: header %+v", with, h)
				}
			}
		}
	})
}

// The message is written by hand: one snappy literal around an OP_MSG ping.
func TestAHandWrittenSnappyMessageIsDecompressed(t *testing.T) {
	ping := golden(t, opMsgPing)
	at, wrapped := beginMessage(nil, 1, 0, OpCompressed)
	wrapped = binary.LittleEndian.AppendUint32(wrapped, uint32(OpMsg))
	wrapped = binary.LittleEndian.AppendUint32(wrapped, uint32(len(ping)-HeaderLength))
	wrapped = append(wrapped, byte(Snappy))
	wrapped = append(wrapped, byte(len(ping)-HeaderLength), byte(len(ping)-HeaderLength-1)<<2) // one literal
	wrapped = EndMessage(append(wrapped, ping[HeaderLength:]...), at)
	var c Codec
	got, _, err := c.Decompress(nil, wrapped, MaxMessageLength)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ParseMsg(got); err != nil || !bytes.Equal(got[HeaderLength:], ping[HeaderLength:]) {
		t.Errorf("% x, %v", got, err)
	}
}

func TestMalformedCompressionIsRefused(t *testing.T) {
	var c Codec
	ping := golden(t, opMsgPing)
	for _, with := range compressors {
		wrapped, err := c.Compress(nil, ping, with)
		if err != nil {
			t.Fatal(err)
		}
		size := func(n int) []byte {
			b := bytes.Clone(wrapped)
			binary.LittleEndian.PutUint32(b[HeaderLength+4:], uint32(n))
			return b
		}
		for name, b := range map[string][]byte{
			"a byte is missing":          EndMessage(bytes.Clone(wrapped[:len(wrapped)-1]), 0),
			"shorter than stated":        wrapped[:len(wrapped)-1],
			"a header cut off":           EndMessage(bytes.Clone(wrapped[:compressedHead-1]), 0),
			"longer inside than stated":  size(len(ping) - HeaderLength - 1),
			"shorter inside than stated": size(len(ping) - HeaderLength + 1),
			"a size over the limit":      size(MaxMessageLength),
			"a negative size":            size(-1),
			"inside another":             append(append(bytes.Clone(wrapped[:HeaderLength]), 0xdc, 7, 0, 0), wrapped[HeaderLength+4:]...),
			"an unknown compressor":      append(append(bytes.Clone(wrapped[:HeaderLength+8]), 9), wrapped[compressedHead:]...),
		} {
			if _, _, err := c.Decompress(nil, b, MaxMessageLength); !errors.Is(err, ErrMalformed) {
				t.Errorf("compressor %d, %s: %v", with, name, err)
			}
		}
	}
}

func FuzzDecompress(f *testing.F) {
	var c Codec
	at, ping := beginMessage(nil, 1, 0, OpMsg)
	ping = EndMessage(append(ping, "some bytes, some bytes, some bytes"...), at)
	for _, with := range compressors {
		wrapped, err := c.Compress(nil, ping, with)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(wrapped)
	}
	const limit = 1 << 20
	f.Fuzz(func(t *testing.T, b []byte) {
		message, with, err := c.Decompress(nil, b, limit)
		if err != nil {
			return
		}
		if h, err := ParseHeader(message); err != nil || int(h.Length) != len(message) || len(message) > limit {
			t.Fatalf("%d bytes, header %+v, %v", len(message), h, err)
		}
		again, err := c.Compress(nil, message, with)
		if err != nil {
			t.Fatal(err)
		}
		if back, _, err := c.Decompress(nil, again, limit); err != nil || !bytes.Equal(back, message) {
			t.Fatal(fmt.Errorf("the message differs after compression and decompression: %w", err))
		}
	})
}

func TestTheNameOfACommandIsTheFirstKeyOfItsBody(t *testing.T) {
	ping := golden(t, opMsgPing)
	query := AppendQuery(nil, 1, 0, "admin.$cmd", []byte{5, 0, 0, 0, 0})
	sequenceFirst := bytes.Clone(ping)
	sequenceFirst[HeaderLength+4] = 1
	for name, c := range map[string]struct {
		message []byte
		want    string
	}{
		"a command":                    {ping, "ping"},
		"an OP_QUERY":                  {query, ""},
		"a message without a body":     {ping[:HeaderLength+4], ""},
		"a body that is cut":           {ping[:HeaderLength+5+5+3], ""},
		"a sequence is first":          {sequenceFirst, ""},
		"less than a header":           {ping[:HeaderLength-1], ""},
		"a body without its first key": {ping[:HeaderLength+5+4], ""},
	} {
		if got := string(CommandName(c.message)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
