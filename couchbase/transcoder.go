package couchbase

import (
	"encoding/json"
	"fmt"
)

// Transcoder turns values into bytes and flags, which say what the bytes are, and back. It must be safe for concurrent use.
type Transcoder interface {
	// Decode writes the value of a document to out, a pointer.
	Decode(bytes []byte, flags uint32, out any) error
	// Encode returns the bytes and the flags of a value.
	Encode(value any) (bytes []byte, flags uint32, err error)
}

// format is what the bytes of a document are, by the flags that all official SDKs share (RFC 0020).
type format byte

const (
	formatLegacy  format = 0 // of an SDK before the common flags
	formatPrivate format = 1
	formatJSON    format = 2
	formatBinary  format = 3
	formatString  format = 4
)

const (
	formatShift      = 24
	formatBits       = 0x0f
	compressionShift = 29 // the flags of an SDK's own compression stand above; none is used any more
	legacyJSONFlags  = 0
)

func (f format) flags() uint32 { return uint32(f) << formatShift }

func (f format) String() string {
	switch f {
	case formatLegacy:
		return "a value without common flags"
	case formatPrivate:
		return "a private value"
	case formatJSON:
		return "JSON"
	case formatBinary:
		return "binary"
	case formatString:
		return "a string"
	}
	return fmt.Sprintf("a value of the unknown format %d", byte(f))
}

// readFormat returns the format that flags name. Flags without a format mean JSON if they are 0.
func readFormat(flags uint32) (format, error) {
	f := format(flags >> formatShift & formatBits)
	switch {
	case flags == legacyJSONFlags:
		return formatJSON, nil
	case flags>>compressionShift != 0:
		return f, fmt.Errorf("couchbase: the flags %#x of the document mean compression by an SDK, which no transcoder of this package reads%w",
			flags, silent{ErrDecodingFailure})
	case f == formatJSON, f == formatBinary, f == formatString:
		return f, nil
	default:
		return f, fmt.Errorf("couchbase: the flags %#x of the document mean %s, which no transcoder of this package reads%w",
			flags, f, silent{ErrDecodingFailure})
	}
}

// refused is the error of a transcoder about a document.
func refused(transcoder string, f format) error {
	return fmt.Errorf("couchbase: the document is %s, which %s does not read%w", f, transcoder, silent{ErrDecodingFailure})
}

// notTaken is the error of a transcoder about a value that it does not encode.
func notTaken(transcoder, takes string, value any) error {
	return invalid("%s takes %s, not a value of type %T", transcoder, takes, value)
}

// wrongTarget is the error about a pointer that does not suit the document.
func wrongTarget(f format, wanted string, out any) error {
	return fmt.Errorf("couchbase: the document is %s, so it needs %s, not a %T%w", f, wanted, out, silent{ErrDecodingFailure})
}

// pointed returns what value points to if it is a *string, a *[]byte or a *any, which transcoders take like the values.
func pointed(value any) any {
	for {
		switch v := value.(type) {
		case *string:
			if v == nil {
				return nil
			}
			return *v
		case *[]byte:
			if v == nil {
				return nil
			}
			return *v
		case *any:
			if v == nil || *v == value {
				return nil
			}
			value = *v
		default:
			return value
		}
	}
}

func encodeJSON(value any) ([]byte, uint32, error) {
	b, err := marshal(value)
	if err != nil {
		return nil, 0, fmt.Errorf("couchbase: %w%w", err, silent{ErrEncodingFailure})
	}
	return b, formatJSON.flags(), nil
}

// marshal returns a value as JSON. JSON that the application encoded stays as it is.
func marshal(value any) ([]byte, error) {
	var raw json.RawMessage
	switch v := value.(type) {
	case json.RawMessage:
		raw = v
	case *json.RawMessage:
		if v != nil {
			raw = *v
		}
	}
	if raw != nil && json.Valid(raw) {
		return raw, nil
	}
	return json.Marshal(value)
}

func decodeJSON(b []byte, out any) error {
	if out == nil {
		out = new(any) // as in gocb: the caller wants no value, only the error
	}
	if err := json.Unmarshal(b, out); err != nil {
		return fmt.Errorf("couchbase: %w%w", err, silent{ErrDecodingFailure})
	}
	return nil
}

func decodeBinary(b []byte, out any) error {
	switch out := out.(type) {
	case *[]byte:
		*out = b
	case *any:
		*out = b
	default:
		return wrongTarget(formatBinary, "a *[]byte or a *any", out)
	}
	return nil
}

func decodeString(b []byte, out any) error {
	switch out := out.(type) {
	case *string:
		*out = string(b)
	case *any:
		*out = string(b)
	default:
		return wrongTarget(formatString, "a *string or a *any", out)
	}
	return nil
}
