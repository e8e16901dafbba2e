package query

import (
	"bytes"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// A document that an expression or a stage made, rather than one that was read, remembers of its fields also those that are
// not there any more: one that is set again is where it was. Its bytes have two marks for that, booleans of values that no
// boolean has. Plain takes them out, before anyone else sees the document; what compares or looks for fields passes them over.
const (
	placeMark = 2 // a field that is not there
	madeMark  = 3 // is in front of all fields
)

// BeginMade is wire.BeginDocument for a document that is made.
func BeginMade(dst []byte) (int, []byte) {
	at, dst := wire.BeginDocument(dst)
	return at, wire.AppendValue(dst, "", bson.TypeBoolean, []byte{madeMark})
}

// AppendField writes a field of a document that is made, or only the place of one whose value is Missing.
func AppendField(dst []byte, name string, v Value) []byte {
	if v.Missing() {
		return wire.AppendValue(dst, name, bson.TypeBoolean, []byte{placeMark})
	}
	return wire.AppendValue(dst, name, v.Type, v.Data)
}

var madeStart = []byte{byte(bson.TypeBoolean), 0, madeMark}

// IsMade reports whether a document was made by an expression or a stage.
func IsMade(doc []byte) bool { return len(doc) > 4 && bytes.HasPrefix(doc[4:], madeStart) }

// isMark reports whether an element is no field.
func isMark(e *wire.Element) bool { return e.Type == bson.TypeBoolean && e.Value[0] >= placeMark }

// nextField advances to the next element that is a field.
func nextField(it *wire.Iterator) bool {
	for it.Next() {
		if !isMark(&it.Element) {
			return true
		}
	}
	return false
}

// Plain returns a document without marks.
func Plain(doc []byte) []byte {
	if !IsMade(doc) {
		return doc
	}
	return plain(doc)
}

// PlainValue is Plain for any value.
func PlainValue(v Value) Value {
	switch v.Type {
	case bson.TypeEmbeddedDocument:
		v.Data = Plain(v.Data)
	case bson.TypeArray:
		v.Data = plain(v.Data)
	}
	return v
}

// plain writes a document or array anew.
func plain(doc []byte) []byte {
	at, dst := wire.BeginDocument(make([]byte, 0, len(doc)))
	it := wire.Elements(doc)
	for nextField(&it) {
		v := PlainValue(Of(it.Element))
		dst = wire.AppendValue(dst, string(it.Key), v.Type, v.Data)
	}
	return wire.EndDocument(dst, at)
}
