package collation

import (
	"bytes"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// Document returns a document with the sort key of each string in its place, to any depth.
func (c *Collation) Document(doc []byte) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, dst := wire.BeginDocument(make([]byte, 0, 2*len(doc)))
	return wire.EndDocument(c.append(dst, doc), at)
}

// append writes the elements of a document or array.
func (c *Collation) append(dst, doc []byte) []byte {
	it := wire.Elements(doc)
	for it.Next() {
		switch name := string(it.Key); it.Type {
		case bson.TypeString, bson.TypeSymbol:
			dst = wire.AppendString(dst, name, string(c.key(it.Text())))
			c.buffer.Reset()
		case bson.TypeEmbeddedDocument:
			at, inner := wire.BeginEmbedded(dst, name)
			dst = wire.EndDocument(c.append(inner, it.Value), at)
		case bson.TypeArray:
			at, inner := wire.BeginArray(dst, name)
			dst = wire.EndDocument(c.append(inner, it.Value), at)
		default:
			dst = wire.AppendElement(dst, it.Element)
		}
	}
	return dst
}

// key returns the sort key of a text; it is good until the buffer is reset.
func (c *Collation) key(text []byte) []byte {
	if c.ignored != nil {
		text = bytes.Map(func(r rune) rune {
			if c.ignored(r) {
				return wordJoiner
			}
			return r
		}, text)
	}
	key := c.collator.Key(&c.buffer, text)
	if c.cased != nil {
		return c.cased.key(text, key)
	}
	return key
}

// wordJoiner has no weight. It stands where a character is left out, so that digits on its two sides remain two numbers.
const wordJoiner = '\u2060'
