package wire

import (
	"encoding/binary"
	"math"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// The Append functions append BSON elements to dst and return it. A key must not contain a zero byte.

// BeginDocument begins a document and reserves its length. EndDocument ends it, given the returned index.
func BeginDocument(dst []byte) (int, []byte) {
	return len(dst), append(dst, 0, 0, 0, 0)
}

// EndDocument closes the document (or array) that began at index.
func EndDocument(dst []byte, index int) []byte {
	dst = append(dst, 0)
	binary.LittleEndian.PutUint32(dst[index:], uint32(len(dst)-index))
	return dst
}

// BeginEmbedded begins an embedded document under key.
func BeginEmbedded(dst []byte, key string) (int, []byte) {
	return BeginDocument(appendHead(dst, bson.TypeEmbeddedDocument, key))
}

// BeginArray begins an array under key. Its elements' keys are "0", "1", ...: see ArrayKey.
func BeginArray(dst []byte, key string) (int, []byte) {
	return BeginDocument(appendHead(dst, bson.TypeArray, key))
}

// ArrayKey returns the key of an array's i-th element.
func ArrayKey(i int) string { return strconv.Itoa(i) }

func appendHead(dst []byte, t bson.Type, key string) []byte {
	dst = append(dst, byte(t))
	dst = append(dst, key...)
	return append(dst, 0)
}

// AppendValue writes an element whose value is already encoded.
func AppendValue(dst []byte, key string, t bson.Type, value []byte) []byte {
	return append(appendHead(dst, t, key), value...)
}

// AppendElement writes an element unchanged.
func AppendElement(dst []byte, e Element) []byte {
	dst = append(dst, byte(e.Type))
	dst = append(dst, e.Key...)
	dst = append(dst, 0)
	return append(dst, e.Value...)
}

// AppendString writes a UTF-8 string.
func AppendString(dst []byte, key, s string) []byte {
	dst = appendHead(dst, bson.TypeString, key)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(s)+1))
	dst = append(dst, s...)
	return append(dst, 0)
}

// AppendInt32 writes a 32-bit integer.
func AppendInt32(dst []byte, key string, n int32) []byte {
	return binary.LittleEndian.AppendUint32(appendHead(dst, bson.TypeInt32, key), uint32(n))
}

// AppendInt64 writes a 64-bit integer.
func AppendInt64(dst []byte, key string, n int64) []byte {
	return binary.LittleEndian.AppendUint64(appendHead(dst, bson.TypeInt64, key), uint64(n))
}

// AppendDouble writes a double.
func AppendDouble(dst []byte, key string, f float64) []byte {
	return binary.LittleEndian.AppendUint64(appendHead(dst, bson.TypeDouble, key), math.Float64bits(f))
}

// AppendBool writes a boolean.
func AppendBool(dst []byte, key string, b bool) []byte {
	dst = appendHead(dst, bson.TypeBoolean, key)
	if b {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// AppendDateTime writes milliseconds since the Unix epoch.
func AppendDateTime(dst []byte, key string, ms int64) []byte {
	return binary.LittleEndian.AppendUint64(appendHead(dst, bson.TypeDateTime, key), uint64(ms))
}

// AppendTimestamp writes a timestamp: seconds and an increment.
func AppendTimestamp(dst []byte, key string, t, i uint32) []byte {
	dst = appendHead(dst, bson.TypeTimestamp, key)
	dst = binary.LittleEndian.AppendUint32(dst, i)
	return binary.LittleEndian.AppendUint32(dst, t)
}

// AppendObjectID writes an object id.
func AppendObjectID(dst []byte, key string, id bson.ObjectID) []byte {
	return append(appendHead(dst, bson.TypeObjectID, key), id[:]...)
}

// AppendBinary writes binary data of the given subtype (not 2, whose layout differs).
func AppendBinary(dst []byte, key string, subtype byte, data []byte) []byte {
	dst = appendHead(dst, bson.TypeBinary, key)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(data)))
	dst = append(dst, subtype)
	return append(dst, data...)
}

// AppendDocument writes an embedded document whose bytes are doc.
func AppendDocument(dst []byte, key string, doc []byte) []byte {
	return AppendValue(dst, key, bson.TypeEmbeddedDocument, doc)
}

// AppendStrings writes an array of strings.
func AppendStrings(dst []byte, key string, values []string) []byte {
	at, dst := BeginArray(dst, key)
	for i, v := range values {
		dst = AppendString(dst, ArrayKey(i), v)
	}
	return EndDocument(dst, at)
}

// BeginEmbeddedHead writes the type and the key of an embedded document whose bytes the caller appends next.
func BeginEmbeddedHead(dst []byte, key string) []byte {
	return appendHead(dst, bson.TypeEmbeddedDocument, key)
}
