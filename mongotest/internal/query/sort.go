package query

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// Sort is a compiled sort order.
type Sort struct {
	keys      []sortKey
	collation Collation // nil if strings are compared by their bytes
}

type sortKey struct {
	path path
	sign int
	meta string // the name of a value that belongs to documents, instead of a path
}

// ParseSort compiles a sort document; nil without error if it is empty, or asks for the order in which documents are kept, or
// for the reverse of it.
func ParseSort(doc []byte) (*Sort, error) {
	var s Sort
	it := wire.Elements(doc)
	for it.Next() {
		if string(it.Key) == "$natural" {
			return nil, naturalOrder(doc, Of(it.Element))
		}
		k, err := parseSortKey(string(it.Key), Of(it.Element))
		if err != nil {
			return nil, err
		}
		s.keys = append(s.keys, k)
	}
	if len(s.keys) == 0 {
		return nil, it.Err
	}
	return &s, it.Err
}

func naturalOrder(doc []byte, v Value) error {
	n, ok := v.Integer()
	switch {
	case len(Elements(doc)) > 1 || !v.IsNumber() || !ok || n != 1 && n != -1:
		return mongoerr.Errorf(mongoerr.BadValue, "$natural sort cannot be set to a value other than -1 or 1.")
	}
	return nil
}

func parseSortKey(name string, v Value) (sortKey, error) {
	n, whole := v.Rounded()
	switch {
	case v.IsDocument():
		return metaSort(v)
	case !v.IsNumber():
		return sortKey{}, mongoerr.Errorf(15974, "Illegal key in $sort specification: %s", shellElement(name, v))
	case !whole || n != 1 && n != -1:
		return sortKey{}, mongoerr.Errorf(15975, "$sort key ordering must be 1 (for ascending) or -1 (for descending)")
	}
	p, err := FieldPath(name)
	return sortKey{path: p, sign: int(n)}, err
}

// metaSort takes {name: {$meta: ...}}: the greatest value comes first.
func metaSort(v Value) (sortKey, error) {
	meta := Lookup(v.Data, "$meta")
	if meta.Missing() {
		return sortKey{}, mongoerr.Errorf(17312, "$meta is the only expression supported by $sort right now")
	}
	if len(ObjectOf(v.Data)) > 1 {
		return sortKey{}, mongoerr.Errorf(mongoerr.FailedToParse, "Cannot have additional keys in a $meta sort specification")
	}
	switch name := string(meta.Text()); name {
	case TextScore, GeoNearDistance:
		return sortKey{path: path{""}, sign: -1, meta: name}, nil
	case "searchScore", "vectorSearchScore":
		return sortKey{}, NoMeta(name)
	case "randVal", GeoNearPoint, "recordId":
		return sortKey{}, unsupported("the sort expression", v.String())
	}
	return sortKey{}, mongoerr.Errorf(31138, "Illegal $meta sort: $meta: %s", meta)
}

// Metas returns the names of the values that belong to documents by which it sorts.
func (s *Sort) Metas() []string {
	var names []string
	for i := range s.keysOrNone() {
		if name := s.keys[i].meta; name != "" {
			names = append(names, name)
		}
	}
	return names
}

func (s *Sort) keysOrNone() []sortKey {
	if s == nil {
		return nil
	}
	return s.keys
}

// Compare orders two documents. To a nil Sort all are equal.
func (s *Sort) Compare(a, b []byte) int {
	if s == nil {
		return 0
	}
	x, _ := s.key(a)
	y, _ := s.key(b)
	return s.compare(x, y)
}

func (s *Sort) compare(a, b []Value) int {
	for i, k := range s.keys {
		if c := Compare(a[i], b[i]); c != 0 {
			return c * k.sign
		}
	}
	return 0
}

// Only reports whether the order is that of one top-level field.
func (s *Sort) Only(field string) bool {
	return s != nil && len(s.keys) == 1 && len(s.keys[0].path) == 1 && s.keys[0].path[0] == field
}

// ByID returns the direction of an order by _id alone, 1 or -1; 0 for any other.
func (s *Sort) ByID() int64 {
	if !s.Only("_id") {
		return 0
	}
	return int64(s.keys[0].sign)
}

// Check refuses a document that cannot be sorted.
func (s *Sort) Check(doc []byte) error {
	if s == nil {
		return nil
	}
	_, err := s.key(doc)
	return err
}

// Order sorts documents, keeping the order of equal ones. It ends with the work, whose error it returns.
func (s *Sort) Order(w *Work, docs [][]byte) error {
	return SortBy(s, w, docs, func(doc []byte) []byte { return doc })
}

// SortBy is Order for what stands for documents.
func SortBy[T any](s *Sort, w *Work, all []T, document func(T) []byte) error {
	type keyed struct {
		one T
		key []Value
	}
	list := make([]keyed, len(all))
	for i, one := range all {
		doc := document(one)
		list[i].one = one
		list[i].key, _ = s.key(doc)
		if err := w.Bytes(len(doc)); err != nil {
			return err
		}
	}
	if err := SortStable(w, list, func(a, b keyed) int { return s.compare(a.key, b.key) }); err != nil {
		return err
	}
	for i := range list {
		all[i] = list[i].one
	}
	return nil
}
