package changes

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/change-events/update/

// description is what an update did to a document, as a change event tells it. It is found by comparing the documents, so that
// it has the innermost fields that differ.
type description struct {
	cuts      bool // arrays that became shorter are told as cut, otherwise as set
	updated   []wire.Element
	removed   []string
	truncated []truncation
	ambiguous []steps // of the fields above
}

type truncation struct {
	field string
	size  int
}

// step is one part of a path: a field, or an element of an array.
type step struct {
	name    string
	element bool
}

type steps []step

// then returns the path with one more part.
func (p steps) then(name string, element bool) steps {
	return append(slices.Clone(p), step{name, element})
}

// String returns the path with dots.
func (p steps) String() string {
	parts := make([]string, len(p))
	for i, s := range p {
		parts[i] = s.name
	}
	return strings.Join(parts, ".")
}

// ambiguous reports whether the path with dots could be read as another one: a field's name has a dot in it, or looks like an
// element's number where it is not the first.
func (p steps) ambiguous() bool {
	return slices.ContainsFunc(p, func(s step) bool { return !s.element && strings.Contains(s.name, ".") }) ||
		slices.ContainsFunc(p[1:], func(s step) bool { return !s.element && isElementNumber(s.name) })
}

func isElementNumber(name string) bool {
	n, err := strconv.Atoi(name)
	return err == nil && n >= 0 && strconv.Itoa(n) == name
}

// compareDocuments compares the documents before and after an update.
func compareDocuments(before, after []byte, cuts bool) *description {
	d := &description{cuts: cuts}
	d.documents(nil, before, after)
	return d
}

// pair is a field that has documents or arrays before and after, which are to be compared themselves.
type pair struct {
	at            steps
	before, after query.Value
}

func (d *description) documents(at steps, before, after []byte) {
	var inner []pair
	gone := make(map[string]bool)
	var removed []string // in order
	was, is := wire.Elements(before), wire.Elements(after)
	more := is.Next()
	for was.Next() {
		switch name := string(was.Key); {
		case !more || name != string(is.Key):
			removed, gone[name] = append(removed, name), true
			continue
		case nested(&was.Element, &is.Element):
			inner = append(inner, pair{at.then(name, false), query.Of(was.Element), query.Of(is.Element)})
		case !same(&was.Element, &is.Element):
			d.set(at.then(name, false), &is.Element)
		}
		more = is.Next()
	}
	for ; more; more = is.Next() {
		d.set(at.then(string(is.Key), false), &is.Element)
		delete(gone, string(is.Key)) // it moved
	}
	for _, name := range removed {
		if gone[name] {
			d.remove(at.then(name, false))
		}
	}
	for _, p := range inner {
		d.compare(p)
	}
}

func (d *description) arrays(at steps, before, after []byte) {
	list, now := query.Elements(before), query.Elements(after)
	if len(now) < len(list) {
		d.truncated = append(d.truncated, truncation{at.String(), len(now)})
		d.note(at)
	}
	it := wire.Elements(after)
	for i := 0; it.Next(); i++ {
		here := at.then(strconv.Itoa(i), true)
		if i >= len(list) {
			d.set(here, &it.Element)
			continue
		}
		was := wire.Element{Type: list[i].Type, Value: list[i].Data}
		switch {
		case nested(&was, &it.Element):
			d.compare(pair{here, list[i], now[i]})
		case !same(&was, &it.Element):
			d.set(here, &it.Element)
		}
	}
}

// nested reports whether two values differ and are both documents or both arrays.
func nested(a, b *wire.Element) bool {
	return a.Type == b.Type && (a.Type == bson.TypeEmbeddedDocument || a.Type == bson.TypeArray) && !bytes.Equal(a.Value, b.Value)
}

func same(a, b *wire.Element) bool { return a.Type == b.Type && bytes.Equal(a.Value, b.Value) }

func (d *description) compare(p pair) {
	switch {
	case p.after.IsDocument():
		d.documents(p.at, p.before.Data, p.after.Data)
	case !d.cuts && query.Count(p.after.Data) < query.Count(p.before.Data):
		d.set(p.at, &wire.Element{Type: p.after.Type, Value: p.after.Data})
	default:
		d.arrays(p.at, p.before.Data, p.after.Data)
	}
}

func (d *description) set(at steps, e *wire.Element) {
	d.updated = append(d.updated, wire.Element{Type: e.Type, Key: []byte(at.String()), Value: e.Value})
	d.note(at)
}

func (d *description) remove(at steps) {
	d.removed = append(d.removed, at.String())
	d.note(at)
}

func (d *description) note(at steps) {
	if at.ambiguous() {
		d.ambiguous = append(d.ambiguous, at)
	}
}

// append writes the description as an event's field.
func (d *description) append(dst []byte, expanded bool) []byte {
	whole, dst := wire.BeginEmbedded(dst, "updateDescription")
	at, dst := wire.BeginEmbedded(dst, "updatedFields")
	for _, e := range d.updated {
		dst = wire.AppendElement(dst, e)
	}
	dst = wire.AppendStrings(wire.EndDocument(dst, at), "removedFields", d.removed)
	if d.cuts {
		at, dst = wire.BeginArray(dst, "truncatedArrays")
		for i, t := range d.truncated {
			one, out := wire.BeginEmbedded(dst, wire.ArrayKey(i))
			out = wire.AppendInt32(wire.AppendString(out, "field", t.field), "newSize", int32(t.size))
			dst = wire.EndDocument(out, one)
		}
		dst = wire.EndDocument(dst, at)
	}
	if expanded {
		dst = d.appendAmbiguous(dst)
	}
	return wire.EndDocument(dst, whole)
}

// appendAmbiguous writes the ambiguous paths part by part.
func (d *description) appendAmbiguous(dst []byte) []byte {
	at, dst := wire.BeginEmbedded(dst, "disambiguatedPaths")
	for _, path := range d.ambiguous {
		one, out := wire.BeginArray(dst, path.String())
		for i, s := range path {
			if n, err := strconv.Atoi(s.name); err == nil && s.element {
				out = wire.AppendInt32(out, wire.ArrayKey(i), int32(n))
			} else {
				out = wire.AppendString(out, wire.ArrayKey(i), s.name)
			}
		}
		dst = wire.EndDocument(out, one)
	}
	return wire.EndDocument(dst, at)
}
