package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// ErrMalformed matches every error about bytes that break the specification.
var ErrMalformed = errors.New("malformed bytes")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

// Element is one element of a BSON document. Key and Value alias the document's bytes.
type Element struct {
	Type  bson.Type
	Key   []byte
	Value []byte
}

// Iterator walks the top level of one document: it copies nothing, allocates nothing, and checks that every element
// lies within the document. It does not look inside nested documents.
//
//	it := wire.Elements(doc)
//	for it.Next() { use(it.Element) }
//	return it.Err
type Iterator struct {
	Element
	Err  error
	rest []byte
}

// Elements returns an iterator over doc, which may be followed by other bytes.
func Elements(doc []byte) Iterator {
	n, err := DocumentLength(doc)
	if err != nil {
		return Iterator{Err: err}
	}
	return Iterator{rest: doc[4 : n-1]}
}

// DocumentLength returns the length of the document at the start of b, after checking its frame.
func DocumentLength(b []byte) (int, error) {
	if len(b) < 5 {
		return 0, malformed("a document of %d bytes, shorter than 5", len(b))
	}
	n := int(int32(binary.LittleEndian.Uint32(b)))
	if n < 5 || n > len(b) {
		return 0, malformed("the document length is %d, but there are %d bytes", n, len(b))
	}
	if b[n-1] != 0 {
		return 0, malformed("a document does not end with a zero byte")
	}
	return n, nil
}

// Next advances to the next element. It returns false at the end and on an error, which it sets as Err.
func (it *Iterator) Next() bool {
	b := it.rest
	if len(b) == 0 {
		return false
	}
	key := endOfKey(b)
	if key >= len(b) {
		return it.fail(malformed("a key without its final zero byte"))
	}
	after := b[key+1:]
	size := int(fixedLength[b[0]]) - 1
	if uint(size) > uint(len(after)) { // a size of -1 is a large unsigned number
		n, err := valueLength(bson.Type(b[0]), after)
		if err != nil {
			return it.fail(err)
		}
		size = n
	}
	it.Type, it.Key, it.Value, it.rest = bson.Type(b[0]), b[1:key], after[:size], after[size:]
	return true
}

// fail ends the iteration with an error.
func (it *Iterator) fail(err error) bool {
	it.Err, it.rest = err, nil
	return false
}

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// endOfKey returns the index of the zero byte that ends the key of an element, or len(b). It looks at eight bytes at a time:
// the lowest high bit that is set in zeros belongs to the first zero byte of word.
func endOfKey(b []byte) int {
	i := 1
	for ; i+8 <= len(b); i += 8 {
		word := binary.LittleEndian.Uint64(b[i:])
		if zeros := (word - lowBits) &^ word & highBits; zeros != 0 {
			return i + bits.TrailingZeros64(zeros)/8
		}
	}
	for i < len(b) && b[i] != 0 {
		i++
	}
	return i
}

// fixedLength has, by type, the length of values that all have the same, plus one. 0 means that the length differs.
var fixedLength = [256]uint8{
	bson.TypeNull: 1, bson.TypeUndefined: 1, bson.TypeMinKey: 1, bson.TypeMaxKey: 1,
	bson.TypeBoolean: 1 + 1,
	bson.TypeInt32:   1 + 4,
	bson.TypeDouble:  1 + 8, bson.TypeDateTime: 1 + 8, bson.TypeTimestamp: 1 + 8, bson.TypeInt64: 1 + 8,
	bson.TypeObjectID:   1 + 12,
	bson.TypeDecimal128: 1 + 16,
}

// valueLength returns how many bytes of b a value of type t occupies.
func valueLength(t bson.Type, b []byte) (int, error) {
	n, err := int(fixedLength[t])-1, error(nil)
	switch t {
	case bson.TypeString, bson.TypeJavaScript, bson.TypeSymbol:
		n, err = prefixedLength(b, 4, 1)
	case bson.TypeDBPointer:
		n, err = prefixedLength(b, 4, 1)
		n += 12
	case bson.TypeBinary:
		n, err = prefixedLength(b, 5, 0)
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		n, err = DocumentLength(b)
	case bson.TypeCodeWithScope:
		n, err = prefixedLength(b, 0, 14)
	case bson.TypeRegex:
		n, err = twoCStrings(b)
	default:
		if n < 0 {
			return 0, malformed("an element of unknown type 0x%02x", byte(t))
		}
	}
	if err != nil {
		return 0, err
	}
	if n > len(b) {
		return 0, malformed("a value of %d bytes where %d are left", n, len(b))
	}
	return n, nil
}

// prefixedLength reads an int32 length, which must be at least least, and returns it plus head, the bytes it does not
// count.
func prefixedLength(b []byte, head, least int) (int, error) {
	if len(b) < 4 {
		return 0, malformed("a length of fewer than four bytes")
	}
	n := int(int32(binary.LittleEndian.Uint32(b)))
	if n < least || n > len(b)-head {
		return 0, malformed("the value length is %d, but %d bytes are left", n, len(b)-head)
	}
	return n + head, nil
}

func twoCStrings(b []byte) (int, error) {
	ends := 0
	for i, c := range b {
		if c != 0 {
			continue
		}
		if ends++; ends == 2 {
			return i + 1, nil
		}
	}
	return 0, malformed("a regular expression without its two final zero bytes")
}

// Int64 returns the element's value as an integer. It reports false if the element is not a number, a date or a
// boolean, or if it is a double that has no exact integer.
func (e *Element) Int64() (int64, bool) {
	switch e.Type {
	case bson.TypeInt32:
		return int64(int32(binary.LittleEndian.Uint32(e.Value))), true
	case bson.TypeInt64, bson.TypeDateTime:
		return int64(binary.LittleEndian.Uint64(e.Value)), true
	case bson.TypeDouble:
		f := e.Float64()
		if f != math.Trunc(f) || math.Abs(f) > 1<<53 {
			return 0, false
		}
		return int64(f), true
	case bson.TypeBoolean:
		return int64(e.Value[0]), true
	default:
		return 0, false
	}
}

// Float64 returns the number of an element that is a double.
func (e *Element) Float64() float64 { return math.Float64frombits(binary.LittleEndian.Uint64(e.Value)) }

// True reports whether the element is a true boolean or a number other than zero.
func (e *Element) True() bool {
	if e.Type == bson.TypeDouble {
		return e.Float64() != 0
	}
	n, ok := e.Int64()
	return ok && n != 0
}

// Text returns the bytes of a string element without the final zero byte, or nil if the element is not a string.
func (e *Element) Text() []byte {
	if e.Type != bson.TypeString || e.Value[len(e.Value)-1] != 0 {
		return nil
	}
	return e.Value[4 : len(e.Value)-1]
}

// Document returns the bytes of an embedded document, or nil if the element is none.
func (e *Element) Document() []byte {
	if e.Type != bson.TypeEmbeddedDocument {
		return nil
	}
	return e.Value
}

// Array returns the bytes of an array, which are those of a document, or nil if the element is none.
func (e *Element) Array() []byte {
	if e.Type != bson.TypeArray {
		return nil
	}
	return e.Value
}

// SetDocumentLength replaces the length of the document at the start of b.
func SetDocumentLength(b []byte, n int) { binary.LittleEndian.PutUint32(b, uint32(n)) }
