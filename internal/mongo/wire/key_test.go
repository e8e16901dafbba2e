package wire

import (
	"bytes"
	"testing"
)

// Every length of a key, followed by every number of bytes, with bytes that confuse a search of eight bytes at a time.
func TestTheEndOfAKey(t *testing.T) {
	for length := range 20 {
		for after := range 12 {
			for _, filler := range []byte{0x01, 0x7f, 0x80, 0x81, 0xff, 'a'} {
				b := append([]byte{0}, bytes.Repeat([]byte{filler}, length)...)
				if got := endOfKey(b); got != len(b) {
					t.Errorf("%x has no end, got %d", b, got)
				}
				want := len(b)
				b = append(append(b, 0), bytes.Repeat([]byte{filler}, after)...)
				if got := endOfKey(b); got != want {
					t.Errorf("%x: %d, want %d", b, got, want)
				}
			}
		}
	}
}
