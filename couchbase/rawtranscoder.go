package couchbase

// RawStringTranscoder passes strings on.
type RawStringTranscoder struct{}

var _ Transcoder = (*RawStringTranscoder)(nil)

// NewRawStringTranscoder returns a RawStringTranscoder.
func NewRawStringTranscoder() *RawStringTranscoder { return &RawStringTranscoder{} }

// Decode writes a string to a *string or *any. Documents of another format are an error.
func (t *RawStringTranscoder) Decode(bytes []byte, flags uint32, out any) error {
	f, err := readFormat(flags)
	if err != nil {
		return err
	}
	if f != formatString {
		return refused("RawStringTranscoder", f)
	}
	return decodeString(bytes, out)
}

// Encode returns the bytes of a string. Any other value is an error.
func (t *RawStringTranscoder) Encode(value any) ([]byte, uint32, error) {
	if s, ok := pointed(value).(string); ok {
		return []byte(s), formatString.flags(), nil
	}
	return nil, 0, notTaken("RawStringTranscoder", "strings", value)
}

// RawBinaryTranscoder passes bytes on.
type RawBinaryTranscoder struct{}

var _ Transcoder = (*RawBinaryTranscoder)(nil)

// NewRawBinaryTranscoder returns a RawBinaryTranscoder.
func NewRawBinaryTranscoder() *RawBinaryTranscoder { return &RawBinaryTranscoder{} }

// Decode writes bytes to a *[]byte or *any. Documents of another format are an error.
func (t *RawBinaryTranscoder) Decode(bytes []byte, flags uint32, out any) error {
	f, err := readFormat(flags)
	if err != nil {
		return err
	}
	if f != formatBinary {
		return refused("RawBinaryTranscoder", f)
	}
	return decodeBinary(bytes, out)
}

// Encode returns a []byte. Any other value is an error.
func (t *RawBinaryTranscoder) Encode(value any) ([]byte, uint32, error) {
	if b, ok := pointed(value).([]byte); ok {
		return b, formatBinary.flags(), nil
	}
	return nil, 0, notTaken("RawBinaryTranscoder", "bytes", value)
}

// LegacyTranscoder encodes bytes as binary, strings as strings and other values as JSON, as version 1 of the official SDK did.
type LegacyTranscoder struct{}

var _ Transcoder = (*LegacyTranscoder)(nil)

// NewLegacyTranscoder returns a LegacyTranscoder.
func NewLegacyTranscoder() *LegacyTranscoder { return &LegacyTranscoder{} }

// Decode writes bytes to a *[]byte or *any, a string to a *string or *any, and JSON to what the pointer takes.
func (t *LegacyTranscoder) Decode(bytes []byte, flags uint32, out any) error {
	f, err := readFormat(flags)
	switch {
	case err != nil:
		return err
	case f == formatBinary:
		return decodeBinary(bytes, out)
	case f == formatString:
		return decodeString(bytes, out)
	default:
		return decodeJSON(bytes, out)
	}
}

// Encode returns the bytes of a value, and the flags of its kind.
func (t *LegacyTranscoder) Encode(value any) ([]byte, uint32, error) {
	switch v := pointed(value).(type) {
	case []byte:
		return v, formatBinary.flags(), nil
	case string:
		return []byte(v), formatString.flags(), nil
	default:
		return encodeJSON(value)
	}
}
