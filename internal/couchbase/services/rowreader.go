package services

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// rowReader reads an answer that is one JSON object, one field of which is an array of rows. It returns the rows one by one and
// keeps the other fields, in whatever order they come.
type rowReader struct {
	in    jsonReader
	name  string // of the rows' field
	state rowState
	meta  meta
	had   bool // the rows' field came
}

type rowState uint8

const (
	atStart  rowState = iota
	inFields          // after the first brace, or after a field
	inRows            // after the bracket, or after a row
	atEnd
)

// next returns the next row, or io.EOF after the end of the whole answer.
func (r *rowReader) next() (json.RawMessage, error) {
	for {
		switch r.state {
		case atStart:
			if err := r.in.expect('{'); err != nil {
				return nil, err
			}
			c, err := r.in.peek()
			if err != nil {
				return nil, unexpected(err)
			}
			if c == '}' {
				r.in.pos++
				r.state = atEnd
			} else if err := r.field(); err != nil {
				return nil, err
			}
		case inFields:
			if err := r.afterField(); err != nil {
				return nil, err
			}
		case inRows:
			if row, err := r.row(); row != nil || err != nil {
				return row, err
			}
		case atEnd:
			return nil, r.drain()
		}
	}
}

// afterField reads a comma and the next field, or the last brace.
func (r *rowReader) afterField() error {
	switch c, err := r.in.next(); {
	case err != nil:
		return err
	case c == '}':
		r.state = atEnd
		return nil
	case c == ',':
		return r.field()
	default:
		return fmt.Errorf("%w: %q follows a field", errMalformed, c)
	}
}

// field reads a field. Of the rows' field it reads the name and the bracket only.
func (r *rowReader) field() error {
	r.state = inFields
	raw, err := r.in.value(maxMeta - r.meta.size)
	if err != nil {
		return err
	}
	var name string
	if err := json.Unmarshal(raw, &name); err != nil {
		return fmt.Errorf("%w: a field has no name", errMalformed)
	}
	if err := r.in.expect(':'); err != nil {
		return err
	}
	if name == r.name {
		return r.enter()
	}
	value, err := r.in.value(maxMeta - r.meta.size)
	if err == nil {
		r.meta.add(name, raw, value)
	}
	return err
}

// enter begins the rows. Null stands for no rows.
func (r *rowReader) enter() error {
	if r.had {
		return fmt.Errorf("%w: the field %q comes twice", errMalformed, r.name)
	}
	r.had = true
	c, err := r.in.peek()
	if err != nil {
		return unexpected(err)
	}
	if c != '[' {
		value, err := r.in.value(maxMeta)
		if err == nil && string(value) != "null" {
			err = fmt.Errorf("%w: the field %q is no array", errMalformed, r.name)
		}
		return err
	}
	r.in.pos++
	c, err = r.in.peek()
	if err != nil {
		return unexpected(err)
	}
	if c == ']' {
		r.in.pos++
		return nil
	}
	r.state = inRows
	return nil
}

// row reads a row and the comma or the bracket after it. The latter is read with the row, so that the last row is known as
// complete, but its lack is an error of the next call only.
func (r *rowReader) row() (json.RawMessage, error) {
	if r.meta.rows > 0 {
		switch c, err := r.in.next(); {
		case err != nil:
			return nil, err
		case c == ']':
			r.state = inFields
			return nil, nil
		case c != ',':
			return nil, fmt.Errorf("%w: %q follows a row", errMalformed, c)
		}
	}
	row, err := r.in.value(maxValue)
	if err == nil {
		r.meta.rows++
	}
	return row, err
}

// drain reads what follows the object, so that the connection can be used again: there must be nothing. The loss of the
// connection does no harm any more.
func (r *rowReader) drain() error {
	c, err := r.in.peek()
	if err == nil {
		return fmt.Errorf("%w: %q follows the end", errMalformed, c)
	}
	return io.EOF
}

// meta is what an answer has beside its rows.
type meta struct {
	fields map[string]json.RawMessage
	text   bytes.Buffer // the fields as one JSON object, without its last brace
	size   int
	rows   int
}

func (m *meta) add(name string, rawName, value json.RawMessage) {
	if m.fields == nil {
		m.fields = make(map[string]json.RawMessage)
	}
	separator := byte(',')
	if m.text.Len() == 0 {
		separator = '{'
	}
	m.text.WriteByte(separator)
	m.text.Write(rawName)
	m.text.WriteByte(':')
	m.text.Write(value)
	m.fields[name] = value
	m.size += len(rawName) + len(value)
}

// object returns all fields but the rows as one JSON object.
func (m *meta) object() []byte {
	if m.text.Len() == 0 {
		return []byte("{}")
	}
	return append(bytes.Clone(m.text.Bytes()), '}')
}

// isEnd reports whether an error of a rowReader is the end of a complete answer.
func isEnd(err error) bool { return err == io.EOF } //nolint:errorlint // io.EOF itself; a wrapped one would be the network's
