package query

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// Collation puts sort keys instead of strings, so that comparing these compares the strings as the collation says.
type Collation interface {
	// Document returns a document with the sort key of each of its strings.
	Document(doc []byte) []byte
}

// Keyed returns a value with sort keys instead of its strings, itself without a collation.
func Keyed(c Collation, v Value) Value {
	if c == nil || !v.IsString() && v.Type != bson.TypeSymbol && !v.IsDocument() && !v.IsArray() {
		return v
	}
	return Elements(c.Document(wrapped("", v)))[0]
}

// CompareBy is Compare with strings compared by a collation; nil for none.
func CompareBy(c Collation, a, b Value) int {
	if c == nil {
		return Compare(a, b)
	}
	return Compare(Keyed(c, a), Keyed(c, b))
}

// EqualBy reports whether two values are the same by a collation; nil for none.
func EqualBy(c Collation, a, b Value) bool { return CompareBy(c, a, b) == 0 }

// ParseCollated is ParseWith for a filter that compares strings by a collation; nil for none.
func (f *Filter) ParseCollated(doc []byte, h Hooks, c Collation) error {
	h.Collation = c
	return f.ParseWith(doc, h)
}

// keyed is a predicate that looks at sort keys.
type keyed struct {
	predicate
	by Collation
}

func (k keyed) test(v Value, m *Matching) bool { return k.predicate.test(Keyed(k.by, v), m) }

// equality returns the condition that something equals a value.
func (p *filterParser) equality(v Value) *equality {
	e := newEquality(v)
	if p.collation != nil && HasText(v) {
		e.predicate, e.by = keyed{equalTo{Keyed(p.collation, v)}, p.collation}, p.collation
	}
	return e
}

// HasText reports whether there are strings in a value.
func HasText(v Value) bool {
	switch v.Type {
	case bson.TypeString, bson.TypeSymbol:
		return true
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		it := wire.Elements(v.Data)
		for it.Next() {
			if HasText(Of(it.Element)) {
				return true
			}
		}
	}
	return false
}

// Collated returns a sort order that compares strings by a collation.
func (s *Sort) Collated(c Collation) *Sort {
	if s == nil || c == nil {
		return s
	}
	return &Sort{keys: s.keys, collation: c}
}
