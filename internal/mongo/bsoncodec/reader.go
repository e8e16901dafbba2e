package bsoncodec

import (
	"bytes"
	"encoding/binary"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// value is a BSON value. Its data aliases the document.
type value struct {
	typ  bson.Type
	data []byte
}

// reader walks over the elements of a document that check found well-formed.
type reader struct{ rest []byte }

func elements(doc []byte) reader { return reader{doc[4 : len(doc)-1]} }

// more reports whether there is another element.
func (r *reader) more() bool { return len(r.rest) > 0 }

// at reports whether the next element has this key.
func (r *reader) at(key string) bool {
	n := len(key) + 1
	return len(r.rest) > n && r.rest[n] == 0 && string(r.rest[1:n]) == key
}

// key returns the next element's key. It does not advance.
func (r *reader) key() []byte {
	n := 1
	for r.rest[n] != 0 {
		n++
	}
	return r.rest[1:n]
}

// value returns the next element's value, given the length of its key, and advances to the element after it.
func (r *reader) value(key int) value {
	t := bson.Type(r.rest[0])
	b := r.rest[key+2:]
	n := int(fixedSizes[t])
	switch {
	case n >= 0:
	case t == bson.TypeString: // the most frequent of the types without a fixed size
		n = int(int32(binary.LittleEndian.Uint32(b))) + 4
	default:
		n = variableSize(t, b)
	}
	r.rest = b[n:]
	return value{t, b[:n]}
}

// count returns the number of elements of a document.
func count(doc []byte) int {
	n := 0
	for r := elements(doc); r.more(); n++ {
		r.value(len(r.key()))
	}
	return n
}

const (
	variable = -1 // the value begins with its length, except a regular expression
	unknown  = -2
)

// fixedSizes has the sizes of the values of each BSON type.
var fixedSizes = func() (sizes [256]int8) {
	for i := range sizes {
		sizes[i] = unknown
	}
	for size, types := range map[int8][]bson.Type{
		0:  {bson.TypeNull, bson.TypeUndefined, bson.TypeMinKey, bson.TypeMaxKey},
		1:  {bson.TypeBoolean},
		4:  {bson.TypeInt32},
		8:  {bson.TypeDouble, bson.TypeDateTime, bson.TypeTimestamp, bson.TypeInt64},
		12: {bson.TypeObjectID},
		16: {bson.TypeDecimal128},
		variable: {
			bson.TypeString, bson.TypeJavaScript, bson.TypeSymbol, bson.TypeDBPointer, bson.TypeBinary, bson.TypeRegex,
			bson.TypeEmbeddedDocument, bson.TypeArray, bson.TypeCodeWithScope,
		},
	} {
		for _, t := range types {
			sizes[t] = size
		}
	}
	return sizes
}()

// variableSize returns the size of the value at the start of b, whose type has no fixed size.
func variableSize(t bson.Type, b []byte) int {
	if t == bson.TypeRegex {
		return regexSize(b)
	}
	n := int(int32(binary.LittleEndian.Uint32(b)))
	switch t {
	case bson.TypeString, bson.TypeJavaScript, bson.TypeSymbol:
		return n + 4
	case bson.TypeBinary:
		return n + 5
	case bson.TypeDBPointer:
		return n + 16
	default:
		return n // it counts itself
	}
}

// regexSize returns the size of a regular expression, which is two texts with a final zero byte each, or -1.
func regexSize(b []byte) int {
	pattern := bytes.IndexByte(b, 0)
	options := bytes.IndexByte(b[pattern+1:], 0)
	if pattern < 0 || options < 0 {
		return -1
	}
	return pattern + options + 2
}

func (v value) int32() int32   { return int32(binary.LittleEndian.Uint32(v.data)) }
func (v value) int64() int64   { return int64(binary.LittleEndian.Uint64(v.data)) }
func (v value) isNull() bool   { return v.typ == bson.TypeNull || v.typ == bson.TypeUndefined }
func (v value) text() []byte   { return v.data[4 : len(v.data)-1] }
func (v value) copied() []byte { return append([]byte(nil), v.data...) }

// isText reports whether the value is a string that ends with a zero byte, as it must.
func (v value) isText() bool { return v.typ == bson.TypeString && v.data[len(v.data)-1] == 0 }

// binary returns the subtype and a copy of the bytes of a binary.
func (v value) binary() (byte, []byte) {
	subtype, data := v.data[4], v.data[5:]
	if subtype == bson.TypeBinaryBinaryOld && len(data) > 4 {
		data = data[4:]
	}
	return subtype, append(make([]byte, 0, len(data)), data...)
}
