package query

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// key returns what a document is sorted by: of the keys that its arrays' elements make, the first in the order.
func (s *Sort) key(doc []byte) ([]Value, error) {
	marked := doc
	if s.collation != nil {
		doc = s.collation.Document(doc)
	}
	g := keyGenerator{sort: s}
	at := make([]cursor, len(s.keys))
	for i, k := range s.keys {
		at[i] = cursor{Document(doc), k.path}
		if k.meta != "" {
			at[i] = cursor{Meta(marked, k.meta), nil}
		}
	}
	g.generate(at)
	return g.best, g.err
}

// Key returns the values by which a document is sorted, or why it cannot be.
func (s *Sort) Key(doc []byte) ([]Value, error) { return s.key(doc) }

// CompareKeys orders two documents by their keys.
func (s *Sort) CompareKeys(a, b []Value) int { return s.compare(a, b) }

// keyGenerator makes the sort keys of one document.
type keyGenerator struct {
	sort *Sort
	best []Value
	err  error
}

// cursor is where one path of the sort has got to: a value, and the rest of the path. A nil rest is an end, also at an
// array.
type cursor struct {
	value Value
	rest  path
}

// descend follows the rest of the path up to its end or the first array.
func (c cursor) descend() cursor {
	for {
		switch {
		case c.value.IsArray() && c.rest != nil:
			return c
		case len(c.rest) == 0:
			return cursor{c.value, nil}
		}
		c.value, c.rest = c.value.lookup(c.rest[0]), c.rest[1:]
	}
}

// generate makes a key of each element of the array that the cursors meet. Of two arrays that are not the same there is no
// key.
func (g *keyGenerator) generate(at []cursor) {
	at = slices.Clone(at)
	var array Value
	for i := range at {
		at[i] = at[i].descend()
		if at[i].rest == nil {
			continue
		}
		if !array.Missing() && !sameArray(array, at[i].value) {
			g.err = mongoerr.Errorf(mongoerr.BadValue, "cannot sort with keys that are parallel arrays")
			return
		}
		array = at[i].value
	}
	if array.Missing() {
		g.consider(at)
		return
	}
	g.elements(array, at)
}

func (g *keyGenerator) elements(array Value, at []cursor) {
	list := array.elements()
	expand := false
	for i := range at {
		if at[i].rest == nil || g.indexed(&at[i], array, list) {
			continue
		}
		expand = true
	}
	if !expand {
		g.generate(at)
		return
	}
	if len(list) == 0 {
		list = []Value{{Type: bson.TypeUndefined}}
	}
	for _, e := range list {
		next := slices.Clone(at)
		for i, c := range next {
			switch {
			case c.rest == nil || !sameArray(c.value, array):
			case len(c.rest) == 0:
				next[i] = cursor{e, nil}
			case e.IsDocument():
				next[i].value = e
			default:
				next[i] = cursor{}
			}
		}
		g.generate(next)
	}
}

// indexed moves a cursor to the element of the array that its path names by index, if it does.
func (g *keyGenerator) indexed(c *cursor, array Value, list []Value) bool {
	if len(c.rest) == 0 {
		return false
	}
	n, ok := index(c.rest[0])
	if !ok || n >= len(list) {
		return false
	}
	for _, e := range list {
		if !e.lookup(c.rest[0]).Missing() {
			g.err = mongoerr.Errorf(16746, "Ambiguous field name found in array (do not use numeric field names in embedded elements in an "+
				"array), field: '%s' for array: %s", c.rest[0], shellDocument(array.Data))
		}
	}
	c.value, c.rest = list[n], c.rest[1:]
	if len(c.rest) == 0 {
		c.rest = nil
		if c.value.IsArray() && len(c.value.Data) == len(EmptyDocument) {
			c.value = Value{Type: bson.TypeUndefined}
		}
	}
	return true
}

// sameArray reports whether two values are one array of the document.
func sameArray(a, b Value) bool { return a.IsArray() && b.IsArray() && &a.Data[0] == &b.Data[0] }

func (g *keyGenerator) consider(at []cursor) {
	key := make([]Value, len(at))
	for i, c := range at {
		key[i] = c.value
		if c.value.Missing() {
			key[i].Type = bson.TypeNull
		}
	}
	if g.best == nil || g.sort.compare(key, g.best) < 0 {
		g.best = key
	}
}

// wrapped returns a document of one field.
func wrapped(name string, v Value) []byte {
	at, dst := wire.BeginDocument(make([]byte, 0, len(v.Data)+len(name)+8))
	return wire.EndDocument(wire.AppendValue(dst, name, v.Type, v.Data), at)
}
