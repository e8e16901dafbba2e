package logging

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// bytesPerCharacter is how many bytes of BSON one character of extended JSON has at most: an element of an array needs two
// characters, and 19 bytes if it is a decimal number with an index of several digits.
const bytesPerCharacter = 16

// shortened returns a document whose extended JSON has the same first length characters as that of doc, but which is not
// much longer: the cost of a message must not depend on the size of a document that is not shown.
func shortened(doc bson.Raw, length int) bson.Raw {
	budget := (length + 1) * bytesPerCharacter
	if len(doc) <= budget {
		return doc
	}
	at, out := wire.BeginDocument(make([]byte, 0, budget))
	out = appendElements(out, doc, &budget)
	return bson.Raw(wire.EndDocument(out, at))
}

// appendElements appends the elements of doc until the budget is used up.
func appendElements(out, doc []byte, budget *int) []byte {
	for it := wire.Elements(doc); *budget > 0 && it.Next(); {
		*budget -= len(it.Key) + 2
		if len(it.Value) <= *budget {
			*budget -= len(it.Value)
			out = wire.AppendElement(out, it.Element)
			continue
		}
		out = appendBeginning(out, &it.Element, budget)
	}
	return out
}

// appendBeginning appends as much of an element as the budget has room for.
func appendBeginning(out []byte, e *wire.Element, budget *int) []byte {
	key, room := string(e.Key), max(*budget, 0)
	switch e.Type {
	case bson.TypeEmbeddedDocument:
		at, inner := wire.BeginEmbedded(out, key)
		return wire.EndDocument(appendElements(inner, e.Value, budget), at)
	case bson.TypeArray:
		at, inner := wire.BeginArray(out, key)
		return wire.EndDocument(appendElements(inner, e.Value, budget), at)
	case bson.TypeString:
		out = wire.AppendString(out, key, string(e.Text()[:min(len(e.Text()), room)]))
	case bson.TypeBinary:
		data := e.Value[binaryHead:]
		out = wire.AppendBinary(out, key, e.Value[binaryHead-1], data[:min(len(data), room-room%3)]) // base64 is by three
	default:
		out = wire.AppendElement(out, *e)
	}
	*budget = 0
	return out
}

// binaryHead is the length of a binary value's length and subtype.
const binaryHead = 5
