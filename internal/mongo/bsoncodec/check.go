package bsoncodec

import (
	"encoding/binary"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// maxDepth is the number of levels to which documents and Go values may be nested.
const maxDepth = 10_000

// maxMalformed is the size up to which a malformed document is given to the general decoder. The general decoder calls
// itself for each nested document: about 150,000 times if a document of this size has nothing else.
const maxMalformed = 1 << 20

var (
	errTooDeep   = errors.New("the nesting is deeper than 10000 levels")
	errMalformed = errors.New("the BSON document is malformed")

	errMalformedValue = errors.New("the bytes are no BSON value of their type")
)

// form is the result of check.
type form int

const (
	wellFormed form = iota
	malformed
	tooDeep
)

// check reports whether all lengths in a document are right, at all levels, so that a reader can follow them without
// checks of its own. It does not call itself for a nested document, so that no input can overflow the stack.
func check(doc []byte) form {
	if len(doc) < 5 || int(int32(binary.LittleEndian.Uint32(doc))) != len(doc) || doc[len(doc)-1] != 0 {
		return malformed
	}
	var room [32]int
	ends := room[:0] // of the documents around the present one
	at, end := 4, len(doc)-1
	for {
		if at == end {
			if len(ends) == 0 {
				return wellFormed
			}
			at, end = end+1, ends[len(ends)-1]
			ends = ends[:len(ends)-1]
			continue
		}
		t := bson.Type(doc[at])
		for at++; at < end && doc[at] != 0; at++ {
		}
		if at == end {
			return malformed
		}
		at++
		if size := int(fixedSizes[t]); size >= 0 && size <= end-at {
			at += size
			continue
		}
		size, head := checkedSize(t, doc[at:end])
		switch {
		case size < 0:
			return malformed
		case head == 0:
			at += size
		case len(ends) == maxDepth-1:
			return tooDeep
		default:
			ends = append(ends, end)
			at, end = at+head, at+size-1
		}
	}
}

// checkValue returns an error if data is not one well-formed value of type t. Bytes that a method of the application made
// must not damage the document around them.
func checkValue(t bson.Type, data []byte) error {
	if size := int(fixedSizes[t]); size >= 0 {
		if size == len(data) {
			return nil
		}
		return errMalformedValue
	}
	size, head := checkedSize(t, data)
	if size != len(data) {
		return errMalformedValue
	}
	if head == 0 {
		return nil
	}
	switch check(data[head-4:]) {
	case malformed:
		return errMalformedValue
	case tooDeep:
		return errTooDeep
	case wellFormed:
	}
	return nil
}

// checkedSize returns the size of a value without a fixed size at the start of b, or -1 if its lengths or its type are
// wrong. If the value ends with a document, head is the number of bytes before the first element of this document, else
// 0.
func checkedSize(t bson.Type, b []byte) (size, head int) {
	if fixedSizes[t] != variable || len(b) < 2 {
		return -1, 0
	}
	if t == bson.TypeRegex {
		return regexSize(b), 0
	}
	if len(b) < 5 {
		return -1, 0
	}
	n := int(int32(binary.LittleEndian.Uint32(b)))
	if n < 0 || n > len(b) {
		return -1, 0
	}
	switch t {
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		if n < 5 || b[n-1] != 0 {
			return -1, 0
		}
		return n, 4
	case bson.TypeCodeWithScope:
		return checkedCode(b[:n])
	case bson.TypeBinary:
		return checkedBinary(b, n), 0
	default:
		size = variableSize(t, b)
		if n < 1 || size > len(b) {
			return -1, 0
		}
		return size, 0
	}
}

// checkedBinary returns the size of a binary of n bytes. Binaries of subtype 2 have a second length.
func checkedBinary(b []byte, n int) int {
	size := n + 5
	if size > len(b) {
		return -1
	}
	if b[4] == bson.TypeBinaryBinaryOld && n > 4 && int(int32(binary.LittleEndian.Uint32(b[5:]))) != n-4 {
		return -1
	}
	return size
}

// checkedCode is checkedSize for JavaScript code with a scope, which occupies b: a length, a string, a document.
func checkedCode(b []byte) (size, head int) {
	if len(b) < 14 {
		return -1, 0
	}
	text := int(int32(binary.LittleEndian.Uint32(b[4:])))
	if text < 1 || text > len(b)-13 {
		return -1, 0
	}
	scope := b[8+text:]
	if int(int32(binary.LittleEndian.Uint32(scope))) != len(scope) || scope[len(scope)-1] != 0 {
		return -1, 0
	}
	return len(b), 8 + text + 4
}
