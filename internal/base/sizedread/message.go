// Package sizedread reads messages that state their own length, for the protocols of several databases.
package sizedread

import (
	"errors"
	"io"
)

// FirstRead is the number of bytes that are allocated before any byte of a body has arrived: a header may state any length.
const FirstRead = 64 << 10

// Message reads one message from r into buf, which it grows only as bytes arrive, and returns the message's bytes. The message
// begins with a header of a fixed size; length returns the size of the whole message, or why the header is refused. io.EOF means
// that r ended between messages.
func Message(r io.Reader, buf []byte, header int, length func(header []byte) (int, error)) ([]byte, error) {
	buf = grow(buf[:0], header)
	if _, err := io.ReadFull(r, buf); err != nil {
		return nil, err
	}
	size, err := length(buf)
	if err != nil {
		return nil, err
	}
	for len(buf) < size {
		have := len(buf)
		buf = grow(buf, min(size, max(2*have, FirstRead)))
		if _, err := io.ReadFull(r, buf[have:]); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	return buf, nil
}

// grow returns b with length n and its bytes kept.
func grow(b []byte, n int) []byte {
	if cap(b) >= n {
		return b[:n]
	}
	return append(b, make([]byte, n-len(b))...)
}
