package query

import (
	"encoding/hex"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/fulltext"
)

// metaMark is a third mark of a document that is made (see BeginMade): it tells by its name of a value that belongs to the document and is
// no field of it, such as the score of a text. Plain takes it out too.
const metaMark = 4

// The names of the values that belong to documents.
const (
	TextScore       = "textScore"
	GeoNearDistance = "geoNearDistance"
	GeoNearPoint    = "geoNearPoint"
)

// Found is what a search finds out about a document besides that it matches. The zero value is nothing.
type Found struct {
	Score    Value // by $text
	Distance Value // by $near
	Point    Value // the nearest geometry, as the document has it

	text fulltext.Result
}

// nothing reports whether nothing was found out.
func (f *Found) nothing() bool { return f.Score.Missing() && f.Distance.Missing() }

// WithMeta returns a document with the values that were found out about it: doc itself if there are none.
func WithMeta(doc []byte, f Found) []byte {
	if f.nothing() {
		return doc
	}
	var marks []byte
	for _, m := range [...]struct {
		name  string
		value Value
	}{{TextScore, f.Score}, {GeoNearDistance, f.Distance}, {GeoNearPoint, f.Point}} {
		if !m.value.Missing() {
			name := m.name + " " + hex.EncodeToString(append([]byte{byte(m.value.Type)}, m.value.Data...))
			marks = wire.AppendValue(marks, name, bson.TypeBoolean, []byte{metaMark})
		}
	}
	return marked(doc, marks)
}

// marked returns a document with marks at its start.
func marked(doc, marks []byte) []byte {
	_, dst := BeginMade(make([]byte, 0, len(doc)+len(marks)+len(madeStart)))
	rest := doc[4:]
	if IsMade(doc) {
		rest = rest[len(madeStart):]
	}
	dst = slices.Concat(dst, marks, rest[:len(rest)-1])
	return wire.EndDocument(dst, 0)
}

// Meta returns a value that belongs to a document, Missing if it has none of that name.
func Meta(doc []byte, name string) Value {
	for it := wire.Elements(wire.EndDocument(append(make([]byte, 4), metaOf(doc)...), 0)); it.Next(); {
		key := string(it.Key)
		if len(key) > len(name) && key[:len(name)] == name && key[len(name)] == ' ' {
			b, err := hex.DecodeString(key[len(name)+1:])
			if err != nil || len(b) == 0 {
				return Value{}
			}
			return Value{Type: bson.Type(b[0]), Data: b[1:]}
		}
	}
	return Value{}
}

// metaOf returns the bytes of the marks about a document.
func metaOf(doc []byte) []byte {
	if !IsMade(doc) {
		return nil
	}
	start := 4 + len(madeStart)
	end := start
	it := wire.Elements(doc)
	it.Next() // the mark at the start
	for it.Next() && it.Type == bson.TypeBoolean && it.Value[0] == metaMark {
		end += 1 + len(it.Key) + 1 + 1
	}
	return doc[start:end]
}

// KeepMeta returns what was made of a document, with the values that belong to that.
func KeepMeta(made, from []byte) []byte {
	marks := metaOf(from)
	if len(marks) == 0 || len(metaOf(made)) > 0 {
		return made
	}
	return marked(made, marks)
}

// Metas returns the names that the $meta expressions in a value have.
func Metas(v Value) []string {
	var names []string
	if !v.IsDocument() && !v.IsArray() {
		return nil
	}
	it := wire.Elements(v.Data)
	for it.Next() {
		inner := Of(it.Element)
		switch name := string(it.Key); {
		case name == "$literal" || name == "$const":
		case name == "$meta" && v.IsDocument():
			names = append(names, string(inner.Text()))
		default:
			names = append(names, Metas(inner)...)
		}
	}
	return names
}
