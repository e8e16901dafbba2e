package bsoncodec

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// givenValue and givenDocument return any bytes as their encoding.
type (
	givenValue struct {
		t    bson.Type
		data []byte
	}
	givenDocument []byte
	givenField    struct{ F givenDocument }
)

func (v givenValue) MarshalBSONValue() (byte, []byte, error) { return byte(v.t), v.data, nil }
func (v givenDocument) MarshalBSON() ([]byte, error)         { return v, nil }

// The bytes that an application gives as the encoding of a value must be one value. Otherwise they would damage the
// document around them, and a server could read another command than the one that was meant.
func TestBytesThatAreNoValueAreRefused(t *testing.T) {
	empty := []byte{5, 0, 0, 0, 0}
	for _, c := range []struct {
		name  string
		value any
		ok    bool
	}{
		{"a document", givenDocument(empty), true},
		{"a document that is cut short", givenDocument(empty[:4]), false},
		{"no bytes", givenDocument{}, false},
		{"a document with bytes after it", givenDocument(append(empty[:5:5], 0)), false},
		{"a document whose element is cut short", givenDocument{8, 0, 0, 0, 0x10, 'a', 0, 0}, false},
		{"a document with a length over its end", givenDocument{9, 0, 0, 0, 0}, false},
		{"a number", givenValue{bson.TypeInt32, []byte{1, 0, 0, 0}}, true},
		{"a number of one byte", givenValue{bson.TypeInt32, []byte{1}}, false},
		{"a number of five bytes", givenValue{bson.TypeInt32, empty}, false},
		{"a text", givenValue{bson.TypeString, []byte{2, 0, 0, 0, 'a', 0}}, true},
		{"a text with a length over its end", givenValue{bson.TypeString, []byte{9, 0, 0, 0, 'a', 0}}, false},
		{"null", givenValue{bson.TypeNull, nil}, true},
		{"null with a byte", givenValue{bson.TypeNull, []byte{0}}, false},
		{"an array", givenValue{bson.TypeArray, empty}, true},
		{"an array that is cut short", givenValue{bson.TypeArray, empty[:4]}, false},
		{"code with scope", givenValue{bson.TypeCodeWithScope, []byte{15, 0, 0, 0, 2, 0, 0, 0, 'f', 0, 5, 0, 0, 0, 0}}, true},
		{"code with a scope that is cut short", givenValue{bson.TypeCodeWithScope, []byte{14, 0, 0, 0, 2, 0, 0, 0, 'f', 0, 5, 0, 0, 0}}, false},
		{"a type that BSON does not have", givenValue{99, nil}, false},
		{"a raw value", bson.RawValue{Type: bson.TypeInt32, Value: []byte{1, 0, 0, 0}}, true},
		{"a raw value that is too short", bson.RawValue{Type: bson.TypeInt32, Value: []byte{1}}, false},
		{"a raw text with a length over its end", bson.RawValue{Type: bson.TypeString, Value: empty}, false},
		{"a field with bytes that are no document", givenField{empty[:4]}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Append(nil, d("k", c.value))
			if c.ok != (err == nil) || (err != nil && !errors.Is(err, errMalformedValue)) {
				t.Fatalf("%v, %v", got, err)
			}
			if err == nil && bson.Raw(got).Validate() != nil {
				t.Errorf("the document %v is malformed", got)
			}
		})
	}
}
