package memd

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
)

func TestDeflate(t *testing.T) {
	random := make([]byte, 100)
	for i := range random {
		random[i] = byte(rand.IntN(256))
	}
	for _, c := range []struct {
		name  string
		value []byte
		want  bool
	}{
		{"a long one", bytes.Repeat([]byte("a"), 100), true},
		{"one of 32 bytes", bytes.Repeat([]byte("a"), 32), true},
		{"one that is too short", bytes.Repeat([]byte("a"), 31), false},
		{"one that does not shrink", random, false},
	} {
		deflated, ok := Deflate(c.value, 32, 0.83)
		if ok != c.want {
			t.Errorf("%s: %d bytes, %t", c.name, len(deflated), ok)
		}
		if !ok {
			continue
		}
		if inflated, err := Inflate(deflated); err != nil || !bytes.Equal(inflated, c.value) {
			t.Errorf("%s: %d bytes, %v", c.name, len(inflated), err)
		}
	}
}

func TestTheLargestValueShrinksAndComesBack(t *testing.T) {
	value := make([]byte, MaxInflated)
	deflated, ok := Deflate(value, 32, 0.83)
	if inflated, err := Inflate(deflated); !ok || err != nil || len(inflated) != len(value) {
		t.Errorf("%d bytes of %d, %t, %v", len(inflated), len(deflated), ok, err)
	}
}

func TestWhichCompressedValuesAreRefused(t *testing.T) {
	for name, text := range map[string]string{
		"none":                              "",
		"no length":                         "ff ff",
		"a length over 30 MiB":              "81 80 80 0f 00",
		"a length of 1 MiB in six bytes":    "80 80 40 00 00 00",
		"a length that its bytes have not":  "05 00 61",
		"a copy from before the beginning":  "04 01 05",
		"a length of more than 32 bits":     "ff ff ff ff 7f 00",
		"more bytes than the stated length": "01 04 61 62",
	} {
		if v, err := Inflate(unhex(t, text)); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %d bytes, %v", name, len(v), err)
		}
	}
}

func TestWhichCommandsAreSentCompressed(t *testing.T) {
	compressed := map[Opcode]bool{OpSet: true, OpAdd: true, OpReplace: true, OpAppend: true, OpPrepend: true}
	for o := range 256 {
		if o := Opcode(o); o.Compressible() != compressed[o] {
			t.Errorf("%v: %t", o, o.Compressible())
		}
	}
}

func FuzzInflate(f *testing.F) {
	deflated, _ := Deflate(bytes.Repeat([]byte("ab"), 100), 0, 1)
	f.Add(deflated)
	f.Add([]byte{0x80, 0x80, 0x40, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		value, err := Inflate(b)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Error(err)
			}
			return
		}
		if len(value) > maxRatio*len(b) {
			t.Errorf("%d bytes of %d", len(value), len(b))
		}
		again, _ := Deflate(value, 0, 1)
		if back, err := Inflate(again); err != nil || !bytes.Equal(back, value) {
			t.Errorf("%x comes back as %x, %v", value, back, err)
		}
	})
}
