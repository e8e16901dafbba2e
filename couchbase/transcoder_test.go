package couchbase

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestTranscodersReadWhatTheyWrite(t *testing.T) {
	for _, c := range []struct {
		name       string
		transcoder Transcoder
		value      any
		flags      uint32
		out        any
		want       string
		read       any // what out has then
	}{
		{"JSON", NewJSONTranscoder(), map[string]int{"a": 1}, 0x0200_0000, new(any), `{"a":1}`, map[string]any{"a": 1.0}},
		{"JSON of the application stays as it is", NewJSONTranscoder(), json.RawMessage(`{"a": 1}`), 0x0200_0000, new(json.RawMessage), `{"a": 1}`, json.RawMessage(`{"a": 1}`)},
		{"raw JSON", NewRawJSONTranscoder(), []byte(`{"a": 1}`), 0x0200_0000, new([]byte), `{"a": 1}`, []byte(`{"a": 1}`)},
		{"raw JSON as a string", NewRawJSONTranscoder(), `{"a": 1}`, 0x0200_0000, new(string), `{"a": 1}`, `{"a": 1}`},
		{"raw string", NewRawStringTranscoder(), "text", 0x0400_0000, new(string), "text", "text"},
		{"raw binary", NewRawBinaryTranscoder(), []byte{0, 1}, 0x0300_0000, new([]byte), "\x00\x01", []byte{0, 1}},
		{"legacy bytes", NewLegacyTranscoder(), []byte{0, 1}, 0x0300_0000, new(any), "\x00\x01", []byte{0, 1}},
		{"legacy string", NewLegacyTranscoder(), "text", 0x0400_0000, new(any), "text", "text"},
		{"legacy JSON", NewLegacyTranscoder(), 5, 0x0200_0000, new(int), "5", 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, flags, err := c.transcoder.Encode(c.value)
			if err != nil || flags != c.flags || string(b) != c.want {
				t.Fatalf("encoded %q %#x %v", b, flags, err)
			}
			if err := c.transcoder.Decode(b, flags, c.out); err != nil {
				t.Error(err)
			}
			if got := reflect.ValueOf(c.out).Elem().Interface(); !reflect.DeepEqual(got, c.read) {
				t.Errorf("read %#v, want %#v", got, c.read)
			}
		})
	}
}

func TestErrorsOfTranscodersNameTheCause(t *testing.T) {
	var out any
	for _, c := range []struct {
		name     string
		run      func() error
		matching error
		names    string
	}{
		{"bytes for JSON", func() error { _, _, err := NewJSONTranscoder().Encode([]byte("b")); return err }, ErrInvalidArgument, "JSONTranscoder"},
		{"a function for JSON", func() error { _, _, err := NewJSONTranscoder().Encode(func() {}); return err }, ErrEncodingFailure, "func()"},
		{"broken JSON of the application", func() error { _, _, err := NewJSONTranscoder().Encode(json.RawMessage("{")); return err }, ErrEncodingFailure, ""},
		{"a number for raw strings", func() error { _, _, err := NewRawStringTranscoder().Encode(5); return err }, ErrInvalidArgument, "int"},
		{"a binary document", func() error { return NewJSONTranscoder().Decode(nil, 0x0300_0000, &out) }, ErrDecodingFailure, "binary"},
		{"a private document", func() error { return NewLegacyTranscoder().Decode(nil, 0x0100_0000, &out) }, ErrDecodingFailure, "private"},
		{"a document that an SDK compressed", func() error { return NewLegacyTranscoder().Decode(nil, 0x2200_0000, &out) }, ErrDecodingFailure, "compression"},
		{"JSON that an SDK compressed", func() error { return NewJSONTranscoder().Decode([]byte(`1`), 0x2200_0000, &out) }, ErrDecodingFailure, "compression"},
		{"raw JSON that an SDK compressed", func() error { return NewRawJSONTranscoder().Decode([]byte(`1`), 0x2200_0000, &out) }, ErrDecodingFailure, "compression"},
		{"JSON of another type", func() error { return NewJSONTranscoder().Decode([]byte(`"a"`), 0, new(int)) }, ErrDecodingFailure, "int"},
		{"a pointer that does not suit", func() error { return NewRawBinaryTranscoder().Decode(nil, 0x0300_0000, new(int)) }, ErrDecodingFailure, "*int"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := c.run(); !errors.Is(err, c.matching) || !strings.Contains(err.Error(), c.names) {
				t.Errorf("%v", err)
			}
		})
	}
}

func FuzzMutationState(f *testing.F) {
	f.Add([]byte(`{"default":{"5":[7,"12345"]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		state := NewMutationState()
		if json.Unmarshal(b, state) != nil {
			if len(state.tokens) != 0 {
				t.Error("a state that cannot be read changed the tokens")
			}
			return
		}
		written, err := json.Marshal(state)
		if err != nil {
			t.Fatal(err)
		}
		again := NewMutationState()
		if err := json.Unmarshal(written, again); err != nil {
			t.Errorf("%s cannot be read again: %v", written, err)
		}
	})
}
