package pipeline

import (
	"strconv"
	"strings"

	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// fieldPath is a dotted path, as query.FieldPath returns it.
type fieldPath []string

func (p fieldPath) String() string { return strings.Join(p, ".") }

// get follows the path through documents only.
func (p fieldPath) get(doc []byte) Value {
	v := query.Lookup(doc, p[0])
	if len(p) == 1 {
		return v
	}
	if !v.IsDocument() {
		return missing
	}
	return p[1:].get(v.Data)
}

// set returns doc with a value at the path; a value on the path that is no document is replaced by one.
func (p fieldPath) set(doc []byte, v Value) []byte {
	o := query.ObjectOf(doc)
	if len(p) == 1 {
		return query.KeepMeta(o.Set(p[0], v).Made().Data, doc)
	}
	inner := query.EmptyDocument
	if was := o.Get(p[0]); was.IsDocument() {
		inner = was.Data
	}
	return query.KeepMeta(o.Set(p[0], query.Document(p[1:].set(inner, v))).Made().Data, doc)
}

// elementsOrSelf returns an array's elements, or the value itself; nothing for a field that is not there.
func elementsOrSelf(v Value) []Value {
	switch {
	case v.Missing():
		return nil
	case v.IsArray():
		return query.Elements(v.Data)
	}
	return []Value{v}
}

// each calls visit with every value that the path leads to, through the documents in arrays. Behind an array a number is the place of one
// of its elements, and only that.
func (p fieldPath) each(doc []byte, visit func(v Value)) {
	v := query.Lookup(doc, p[0])
	for p = p[1:]; len(p) > 0 && v.IsArray(); p = p[1:] {
		at, isPlace := place(p[0])
		if !isPlace {
			break
		}
		elements := query.Elements(v.Data)
		if v = missing; at < len(elements) {
			v = elements[at]
		}
	}
	switch {
	case len(p) == 0:
		visit(v)
	case v.IsDocument():
		p.each(v.Data, visit)
	case v.IsArray():
		for _, e := range query.Elements(v.Data) {
			if e.IsDocument() {
				p.each(e.Data, visit)
			}
		}
	default:
		visit(missing)
	}
}

// place reads the number of an array's element.
func place(name string) (int, bool) {
	n, err := strconv.Atoi(name)
	return n, err == nil && n >= 0 && strconv.Itoa(n) == name
}
