package query

import (
	"slices"

	"github.com/holdfast-db/holdfast/internal/wire"
)

// Sort is a compiled sort order.
type Sort struct{ keys []sortKey }

type sortKey struct {
	path path
	sign int
}

// ParseSort compiles a sort document; nil without error if it is empty.
func ParseSort(doc []byte) (*Sort, error) {
	var s Sort
	it := wire.Elements(doc)
	for it.Next() {
		v := Of(it.Element)
		if v.IsDocument() {
			return nil, unsupported("the sort expression", v.String())
		}
		n, ok := v.Integer()
		if !v.IsNumber() || !ok || (n != 1 && n != -1) {
			return nil, fail(15975, "$sort key ordering must be 1 (for ascending) or -1 (for descending)")
		}
		name := string(it.Key)
		if name == "" {
			return nil, fail(40352, "FieldPath cannot be constructed with empty string")
		}
		if name[0] == '$' {
			return nil, unsupported("the sort key", name)
		}
		s.keys = append(s.keys, sortKey{splitPath(name), int(n)})
	}
	if len(s.keys) == 0 {
		return nil, it.Err
	}
	return &s, it.Err
}

// Compare orders two documents. To a nil Sort all are equal.
func (s *Sort) Compare(a, b []byte) int {
	if s == nil {
		return 0
	}
	for _, k := range s.keys {
		if c := Compare(k.value(a), k.value(b)); c != 0 {
			return c * k.sign
		}
	}
	return 0
}

// value returns what the key sorts a document by: the least of an array's elements, or the greatest when descending.
func (k sortKey) value(doc []byte) Value {
	best, found := Value{}, false
	consider := func(v Value) {
		if !found || Compare(v, best)*k.sign < 0 {
			best, found = v, true
		}
	}
	k.path.walk(doc, func(v Value, _ bool) bool {
		list := []Value{v}
		if v.IsArray() {
			if list = v.elements(); len(list) == 0 {
				list = []Value{{}}
			}
		}
		for _, e := range list {
			if e.Missing() {
				e.Type = nullType
			}
			consider(e)
		}
		return false
	})
	if !found {
		best.Type = nullType
	}
	return best
}

// Documents sorts documents, keeping the order of equal ones.
func (s *Sort) Documents(docs [][]byte) { slices.SortStableFunc(docs, s.Compare) }
