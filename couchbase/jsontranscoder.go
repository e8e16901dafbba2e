package couchbase

import "encoding/json"

// JSONTranscoder encodes every value but []byte as JSON. It is the transcoder of a cluster that sets none.
type JSONTranscoder struct{}

var _ Transcoder = (*JSONTranscoder)(nil)

// NewJSONTranscoder returns a JSONTranscoder.
func NewJSONTranscoder() *JSONTranscoder { return &JSONTranscoder{} }

// Decode reads JSON. Documents of another format are an error.
func (t *JSONTranscoder) Decode(bytes []byte, flags uint32, out any) error {
	f, err := readFormat(flags)
	if err != nil {
		return err
	}
	if f != formatJSON {
		return refused("JSONTranscoder", f)
	}
	return decodeJSON(bytes, out)
}

// Encode writes JSON. A []byte is an error: use [RawJSONTranscoder] or [RawBinaryTranscoder], or convert it to a [json.RawMessage].
func (t *JSONTranscoder) Encode(value any) ([]byte, uint32, error) {
	if _, binary := pointed(value).([]byte); binary {
		return nil, 0, notTaken("JSONTranscoder", "values that become JSON", value)
	}
	return encodeJSON(value)
}

// RawJSONTranscoder passes on JSON that the application encodes and decodes itself, as []byte or string.
type RawJSONTranscoder struct{}

var _ Transcoder = (*RawJSONTranscoder)(nil)

// NewRawJSONTranscoder returns a RawJSONTranscoder.
func NewRawJSONTranscoder() *RawJSONTranscoder { return &RawJSONTranscoder{} }

// Decode writes the bytes of a JSON document to a *[]byte or *string. Documents of another format are an error.
func (t *RawJSONTranscoder) Decode(bytes []byte, flags uint32, out any) error {
	f, err := readFormat(flags)
	if err != nil {
		return err
	}
	if f != formatJSON {
		return refused("RawJSONTranscoder", f)
	}
	switch out := out.(type) {
	case *[]byte:
		*out = bytes
	case *string:
		*out = string(bytes)
	default:
		return wrongTarget(formatJSON, "a *[]byte or a *string", out)
	}
	return nil
}

// Encode returns the bytes of a []byte, string or [json.RawMessage]. Any other value is an error.
func (t *RawJSONTranscoder) Encode(value any) ([]byte, uint32, error) {
	switch v := pointed(value).(type) {
	case []byte:
		return v, formatJSON.flags(), nil
	case string:
		return []byte(v), formatJSON.flags(), nil
	case json.RawMessage:
		return v, formatJSON.flags(), nil
	case *json.RawMessage:
		if v != nil {
			return *v, formatJSON.flags(), nil
		}
	}
	return nil, 0, notTaken("RawJSONTranscoder", "JSON in a []byte or string", value)
}
