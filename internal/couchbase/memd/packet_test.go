package memd

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/holdfast-db/holdfast/internal/base/sizedread"
)

// packets are packets as they stand on the wire.
var packets = []struct {
	name string
	hex  string
	p    Packet
}{
	{
		"a GET in the default collection", "80 00 0006 00 00 0073 00000006 00000001 0000000000000000 00 68656c6c6f",
		Packet{Magic: MagicRequest, Opcode: OpGet, VBucket: 115, Opaque: 1, Key: []byte("\x00hello")},
	},
	{
		"its answer", "81 00 0000 04 01 0000 00000006 00000001 000000000000002a 02000000 7b7d",
		Packet{Magic: MagicResponse, Opcode: OpGet, DataType: DataJSON, Opaque: 1, CAS: 42, Extras: []byte{2, 0, 0, 0}, Value: []byte("{}")},
	},
	{
		"a durable SET with 2000 ms", "08 01 04 02 08 01 0001 00000010 00000002 0000000000000000 130107d0 0200000000000000 0061 7b7d",
		Packet{
			Magic: MagicFlexibleRequest, Opcode: OpSet, DataType: DataJSON, VBucket: 1, Opaque: 2, Frames: []byte{0x13, 1, 7, 0xd0},
			Extras: []byte{2, 0, 0, 0, 0, 0, 0, 0}, Key: []byte("\x00a"), Value: []byte("{}"),
		},
	},
	{
		"an answer with a server duration", "18 01 03 00 00 00 0086 00000003 00000002 0000000000000000 020001",
		Packet{Magic: MagicFlexibleResponse, Opcode: OpSet, Status: StatusTemporaryFailure, Opaque: 2, Frames: []byte{2, 0, 1}},
	},
	{
		"a server tells of a map", "82 01 0001 10 00 0000 00000011 00000000 0000000000000000 0000000000000001 0000000000000007 62",
		Packet{Magic: MagicServerRequest, Opcode: ServerOpClusterMap, Extras: AppendMapVersion(nil, MapVersion{1, 7}), Key: []byte("b")},
	},
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestPackets(t *testing.T) {
	for _, c := range packets {
		want := unhex(t, c.hex)
		got, err := c.p.Append([]byte("before"))
		if err != nil || !bytes.Equal(got[len("before"):], want) {
			t.Errorf("%s: %x, %v, want %x", c.name, got, err, want)
		}
		p, err := Parse(want)
		if err != nil || !same(p, c.p) {
			t.Errorf("%s: %+v, %v, want %+v", c.name, p, err, c.p)
		}
		if n, err := PacketLength(append(want, "the next"...)); n != len(want) || err != nil {
			t.Errorf("%s: a length of %d, %v", c.name, n, err)
		}
	}
}

// same compares packets. Empty parts are equal to nil ones.
func same(a, b Packet) bool {
	for _, p := range []*Packet{&a, &b} {
		for _, part := range []*[]byte{&p.Frames, &p.Extras, &p.Key, &p.Value} {
			if len(*part) == 0 {
				*part = nil
			}
		}
	}
	return reflect.DeepEqual(a, b)
}

func TestWhichPacketsAreMalformed(t *testing.T) {
	for name, text := range map[string]string{
		"shorter than a header":       "80 00 0000",
		"an unknown magic":            "7f 00 0000 00 00 0000 00000000 00000001 0000000000000000",
		"a body that is not there":    "80 00 0000 00 00 0000 00000001 00000001 0000000000000000",
		"more than the body":          "80 00 0000 00 00 0000 00000000 00000001 0000000000000000 00",
		"a key longer than the body":  "80 00 0002 00 00 0000 00000001 00000001 0000000000000000 00",
		"extras and key, too long":    "80 00 0001 01 00 0000 00000001 00000001 0000000000000000 00",
		"frames longer than the body": "18 00 02 00 00 00 0000 00000001 00000001 0000000000000000 00",
		"a body of 4 GiB":             "80 00 0000 00 00 0000 ffffffff 00000001 0000000000000000",
		"a packet over 30 MiB":        "80 00 0000 00 00 0000 01dfffe9 00000001 0000000000000000",
	} {
		if p, err := Parse(unhex(t, text)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

func TestWhichPacketsAreNotWritten(t *testing.T) {
	for name, p := range map[string]Packet{
		"an unknown magic":                    {Magic: 1},
		"framing extras in a request":         {Magic: MagicRequest, Frames: []byte{0}},
		"framing extras over 255 bytes":       {Magic: MagicFlexibleRequest, Frames: make([]byte, 256)},
		"extras over 255 bytes":               {Magic: MagicRequest, Extras: make([]byte, 256)},
		"a key over 65,535 bytes":             {Magic: MagicRequest, Key: make([]byte, 1<<16)},
		"a key over 255 bytes, flexible":      {Magic: MagicFlexibleRequest, Key: make([]byte, 256)},
		"a value over 30 MiB with its header": {Magic: MagicRequest, Value: make([]byte, MaxPacketLength-HeaderLength+1)},
	} {
		if b, err := p.Append([]byte("before")); !errors.Is(err, ErrMalformed) || string(b) != "before" {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
	longest := Packet{Magic: MagicRequest, Value: make([]byte, MaxPacketLength-HeaderLength)}
	if b, err := longest.Append(nil); err != nil || len(b) != MaxPacketLength {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

func TestReadReadsOnePacketAfterTheOther(t *testing.T) {
	var stream []byte
	for _, c := range packets {
		stream = append(stream, unhex(t, c.hex)...)
	}
	large := Packet{Magic: MagicRequest, Opcode: OpSet, Value: bytes.Repeat([]byte("x"), 3*sizedread.FirstRead)}
	stream, err := large.Append(stream)
	if err != nil {
		t.Fatal(err)
	}
	r := iotest.OneByteReader(bytes.NewReader(stream))
	var buf []byte
	for _, want := range append(packets[:len(packets):len(packets)], struct {
		name, hex string
		p         Packet
	}{p: large}) {
		if buf, err = Read(r, buf); err != nil {
			t.Fatal(err)
		}
		if p, err := Parse(buf); err != nil || !same(p, want.p) {
			t.Errorf("%+v, %v, want %+v", p, err, want.p)
		}
	}
	if _, err := Read(r, buf); !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("at the end: %v", err)
	}
	for _, cut := range []int{1, HeaderLength, HeaderLength + 1} {
		if _, err := Read(bytes.NewReader(unhex(t, packets[0].hex)[:cut]), nil); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("after %d bytes: %v", cut, err)
		}
	}
}

func FuzzPacket(f *testing.F) {
	for _, c := range packets {
		f.Add(unhex(f, c.hex))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Parse(b)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Error(err)
			}
			return
		}
		again, err := p.Append(nil)
		if err != nil || !bytes.Equal(again, b) {
			t.Errorf("%x is written as %x, %v", b, again, err)
		}
		if n, err := PacketLength(b); n != len(b) || err != nil {
			t.Errorf("its length is %d, %v", n, err)
		}
		for frames := p.Frames; len(frames) > 0; {
			if _, frames, err = NextFrame(frames); err != nil {
				break
			}
		}
		ParseErrorInfo(&p)
		ManifestUID(&p)
	})
}
