package collation

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// Document returns a document with the sort key of each string in its place, to any depth.
func (c *Collation) Document(doc []byte) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, dst := wire.BeginDocument(make([]byte, 0, 2*len(doc)))
	return wire.EndDocument(c.append(dst, doc, nil), at)
}

// Filter returns a filter that compares with sort keys. Strings in it that are no values of documents stay as they are.
func (c *Collation) Filter(filter []byte) ([]byte, error) {
	if name := uncollated(filter); name != "" {
		return nil, unsupported("a filter with " + name)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	at, dst := wire.BeginDocument(make([]byte, 0, 2*len(filter)))
	return wire.EndDocument(c.append(dst, filter, plain), at), nil
}

// plain are the operators whose strings are not compared.
var plain = map[string]bool{"$comment": true, "$type": true}

// uncollated returns the first operator of a filter that looks at the strings themselves, "" if there is none.
func uncollated(filter []byte) string {
	it := wire.Elements(filter)
	for it.Next() {
		switch name := string(it.Key); name {
		case "$expr", "$jsonSchema", "$where", "$text", "$regex":
			return name
		}
		if it.Type == bson.TypeRegex {
			return "a regular expression"
		}
		if it.Type == bson.TypeEmbeddedDocument || it.Type == bson.TypeArray {
			if name := uncollated(it.Value); name != "" {
				return name
			}
		}
	}
	return ""
}

// append writes the elements of a document or array, those under certain names as they are.
func (c *Collation) append(dst, doc []byte, except map[string]bool) []byte {
	it := wire.Elements(doc)
	for it.Next() {
		switch name := string(it.Key); {
		case except[name]:
			dst = wire.AppendElement(dst, it.Element)
		case it.Type == bson.TypeString || it.Type == bson.TypeSymbol:
			dst = wire.AppendString(dst, name, string(c.collator.Key(&c.buffer, it.Text())))
			c.buffer.Reset()
		case it.Type == bson.TypeEmbeddedDocument:
			at, inner := wire.BeginEmbedded(dst, name)
			dst = wire.EndDocument(c.append(inner, it.Value, except), at)
		case it.Type == bson.TypeArray:
			at, inner := wire.BeginArray(dst, name)
			dst = wire.EndDocument(c.append(inner, it.Value, except), at)
		default:
			dst = wire.AppendElement(dst, it.Element)
		}
	}
	return dst
}
