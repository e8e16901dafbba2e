package services

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// The limits of an answer that is read: one value at a time, so a row, and all that is no row.
const (
	maxValue = 256 << 20
	maxMeta  = 64 << 20
)

// errMalformed matches the errors about answers that are not the JSON that they should be.
var errMalformed = errors.New("malformed answer")

// jsonReader splits a stream of JSON into values. Its memory is one buffer, whatever comes.
type jsonReader struct {
	from     io.Reader
	buf      []byte
	pos, end int
	err      error // of from, once it has ended
}

const readSize = 16 << 10

// fill reads more bytes. All bytes of the buffer have been used.
func (r *jsonReader) fill() error {
	if r.buf == nil {
		r.buf = make([]byte, readSize)
	}
	r.pos, r.end = 0, 0
	for r.end == 0 {
		if r.err != nil {
			return r.err
		}
		r.end, r.err = r.from.Read(r.buf)
	}
	return nil
}

// peek returns the next byte that is no white space, and leaves it there.
func (r *jsonReader) peek() (byte, error) {
	for {
		for ; r.pos < r.end; r.pos++ {
			switch c := r.buf[r.pos]; c {
			case ' ', '\t', '\r', '\n':
			default:
				return c, nil
			}
		}
		if err := r.fill(); err != nil {
			return 0, err
		}
	}
}

// next returns the next byte that is no white space. The answer may not end here.
func (r *jsonReader) next() (byte, error) {
	c, err := r.peek()
	if err != nil {
		return 0, unexpected(err)
	}
	r.pos++
	return c, nil
}

// expect reads one byte that must be there.
func (r *jsonReader) expect(want byte) error {
	c, err := r.next()
	if err == nil && c != want {
		err = fmt.Errorf("%w: %q stands where %q is expected", errMalformed, c, want)
	}
	return err
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// value returns the next value, in memory of its own.
func (r *jsonReader) value(limit int) (json.RawMessage, error) {
	if _, err := r.peek(); err != nil {
		return nil, unexpected(err)
	}
	var v []byte
	var s valueScan
	for {
		n, done := s.scan(r.buf[r.pos:r.end])
		if len(v)+n > limit {
			return nil, fmt.Errorf("%w: a value has more than %d bytes", errMalformed, limit)
		}
		v = append(v, r.buf[r.pos:r.pos+n]...)
		r.pos += n
		if done {
			break
		}
		if err := r.fill(); err != nil {
			return nil, unexpected(err)
		}
	}
	if !json.Valid(v) {
		return nil, fmt.Errorf("%w: a value is no JSON", errMalformed)
	}
	return v, nil
}

// valueScan finds the end of a value: it counts brackets outside of strings. Whether the value is JSON is checked afterwards.
type valueScan struct {
	depth    int
	inString bool
	escaped  bool
	scalar   bool // a number, true, false or null, which ends where something else begins
}

// scan returns how many bytes of b belong to the value, and whether the value ends there.
func (s *valueScan) scan(b []byte) (int, bool) {
	for i, c := range b {
		switch {
		case s.escaped:
			s.escaped = false
		case s.inString && c == '\\':
			s.escaped = true
		case s.inString:
			if c == '"' {
				if s.inString = false; s.depth == 0 {
					return i + 1, true
				}
			}
		case s.scalar:
			if isDelimiter(c) {
				return i, true
			}
		case c == '"':
			s.inString = true
		case c == '{' || c == '[':
			s.depth++
		case c == '}' || c == ']':
			if s.depth--; s.depth <= 0 {
				return i + 1, true
			}
		case s.depth == 0:
			s.scalar = true
			if isDelimiter(c) {
				return i + 1, true // no value at all
			}
		}
	}
	return len(b), false
}

func isDelimiter(c byte) bool {
	switch c {
	case ',', ':', ']', '}', ' ', '\t', '\r', '\n':
		return true
	default:
		return false
	}
}
