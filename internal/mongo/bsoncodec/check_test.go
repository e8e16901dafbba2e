package bsoncodec

import (
	"encoding/binary"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// element returns a document with one element of type t whose value has these bytes.
func element(t bson.Type, data ...byte) []byte {
	doc := append([]byte{0, 0, 0, 0, byte(t), 'k', 0}, data...)
	doc = append(doc, 0)
	binary.LittleEndian.PutUint32(doc, uint32(len(doc)))
	return doc
}

// Source: the BSON specification, version 1.1.
func TestTheLengthsOfADocumentAreChecked(t *testing.T) {
	eight, twelve := make([]byte, 8), make([]byte, 12)
	for _, c := range []struct {
		name string
		doc  []byte
		want form
	}{
		{"an empty document", []byte{5, 0, 0, 0, 0}, wellFormed},
		{"fewer than five bytes", []byte{4, 0, 0, 0}, malformed},
		{"a length that is too short", []byte{5, 0, 0, 0, 0, 0}, malformed},
		{"a length that is too long", []byte{6, 0, 0, 0, 0}, malformed},
		{"no final zero byte", []byte{5, 0, 0, 0, 1}, malformed},
		{"a key without end", []byte{7, 0, 0, 0, byte(bson.TypeNull), 'k', 0}, malformed},
		{"an unknown type", element(0x20), malformed},
		{"a zero byte before the end", element(0), malformed},
		{"null", element(bson.TypeNull), wellFormed},
		{"an int32", element(bson.TypeInt32, 1, 2, 3, 4), wellFormed},
		{"an int32 of three bytes", element(bson.TypeInt32, 1, 2, 3), malformed},
		{"a double", element(bson.TypeDouble, eight...), wellFormed},
		{"a double of seven bytes", element(bson.TypeDouble, eight[1:]...), malformed},
		{"an empty string", element(bson.TypeString, 1, 0, 0, 0, 0), wellFormed},
		{"a string of no bytes", element(bson.TypeString, 0, 0, 0, 0, 0), malformed},
		{"a string with a negative length", element(bson.TypeString, 255, 255, 255, 255, 0), malformed},
		{"a string that is too long", element(bson.TypeString, 2, 0, 0, 0, 0), malformed},
		{"a string with half a length", element(bson.TypeString, 1, 0, 0), malformed},
		{"an empty binary", element(bson.TypeBinary, 0, 0, 0, 0, 0), wellFormed},
		{"a binary without a subtype", element(bson.TypeBinary, 0, 0, 0, 0), malformed},
		{"a binary that is too long", element(bson.TypeBinary, 1, 0, 0, 0, 0), malformed},
		{"a binary of subtype 2", element(bson.TypeBinary, 5, 0, 0, 0, 2, 1, 0, 0, 0, 9), wellFormed},
		{"a short binary of subtype 2", element(bson.TypeBinary, 4, 0, 0, 0, 2, 9, 9, 9, 9), wellFormed},
		{"a binary of subtype 2 with two lengths", element(bson.TypeBinary, 5, 0, 0, 0, 2, 2, 0, 0, 0, 9), malformed},
		{"an embedded document", element(bson.TypeEmbeddedDocument, 5, 0, 0, 0, 0), wellFormed},
		{"an embedded document without an end", element(bson.TypeEmbeddedDocument, 5, 0, 0, 0, 1), malformed},
		{"an embedded document of four bytes", element(bson.TypeEmbeddedDocument, 4, 0, 0, 0, 0), malformed},
		{"an embedded document that is too long", element(bson.TypeEmbeddedDocument, 7, 0, 0, 0, 0), malformed},
		{"an array with a wrong element", element(bson.TypeArray, 8, 0, 0, 0, byte(bson.TypeInt32), '0', 0, 0), malformed},
		{"a regular expression", element(bson.TypeRegex, 'a', 0, 'i', 0), wellFormed},
		{"an empty regular expression", element(bson.TypeRegex, 0, 0), wellFormed},
		{"a regular expression without options", element(bson.TypeRegex, 'a', 0), malformed},
		{"a regular expression without end", element(bson.TypeRegex, 'a', 'b'), malformed},
		{"a DBPointer", element(bson.TypeDBPointer, append([]byte{1, 0, 0, 0, 0}, twelve...)...), wellFormed},
		{"a DBPointer that is too short", element(bson.TypeDBPointer, append([]byte{1, 0, 0, 0, 0}, eight...)...), malformed},
		{"code with a scope", element(bson.TypeCodeWithScope, 14, 0, 0, 0, 1, 0, 0, 0, 0, 5, 0, 0, 0, 0), wellFormed},
		{"code with a scope that is too short", element(bson.TypeCodeWithScope, 13, 0, 0, 0, 1, 0, 0, 0, 0, 5, 0, 0, 0, 0), malformed},
		{"code of no bytes", element(bson.TypeCodeWithScope, 14, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0), malformed},
		{"code that is too long", element(bson.TypeCodeWithScope, 14, 0, 0, 0, 2, 0, 0, 0, 0, 5, 0, 0, 0, 0), malformed},
		{"a scope of another length", element(bson.TypeCodeWithScope, 14, 0, 0, 0, 1, 0, 0, 0, 0, 6, 0, 0, 0, 0), malformed},
		{"a scope without end", element(bson.TypeCodeWithScope, 14, 0, 0, 0, 1, 0, 0, 0, 0, 5, 0, 0, 0, 1), malformed},
		{"the deepest nesting", nestedDocument(maxDepth, bson.TypeArray), wellFormed},
		{"deeper nesting", nestedDocument(maxDepth+1, bson.TypeArray), tooDeep},
	} {
		if got := check(c.doc); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
