package store

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/core/indexes/index-types/index-multikey/

// Key is one entry's key: a value for each field of the pattern.
type Key []query.Value

// part is one field of a key that is being made.
type part struct {
	path  []string    // the part that is left to follow; none once the value is final
	value query.Value // the value found so far: an array where the path has yet to enter it
	name  string      // the name of that array

	placed *part  // where the path goes on, if it names an element of the array that is being entered by its place
	nested bool   // that element is an array itself
	array  []byte // the array that is entered then
}

var (
	nullValue      = query.Value{Type: bson.TypeNull}
	undefinedValue = query.Value{Type: bson.TypeUndefined}
)

// Keys returns the keys under which the index has a document: none if it is not in the index, several if it has arrays.
func (ix *Index) Keys(doc []byte) ([]Key, error) {
	if ix.partial != nil && !ix.partial.Match(doc) {
		return nil, nil
	}
	switch {
	case ix.refusesDuplicates() && !ix.Ordered():
		return ix.entryKeys(doc)
	case ix.plane != nil:
		return nil, ix.plane.check(ix.Paths[0], doc)
	}
	if ix.Collation != nil {
		doc = ix.Collation.Document(doc)
	}
	parts := make([]part, len(ix.Paths))
	for i, p := range ix.Paths {
		parts[i].path = p
	}
	return ix.expand(nil, parts, doc, 0)
}

// expand follows the parts' paths into doc, an element of the array entered last or the whole document, and adds the keys
// that come of it. Of the parts that meet an array, all must meet the same one.
func (ix *Index) expand(keys []Key, parts []part, doc []byte, missing int) ([]Key, error) {
	var array query.Value
	name, entire := "", false
	within := make([]bool, len(parts)) // the part has yet to enter the array
	for i := range parts {
		p := &parts[i]
		if p.path == nil {
			continue
		}
		nested, err := p.advance(doc)
		if err != nil {
			return nil, err
		}
		switch {
		case p.value.Missing():
			p.value, p.path = nullValue, nil
			missing++
		case !p.value.IsArray():
			p.path = nil
		case !array.Missing() && &p.value.Data[0] != &array.Data[0]:
			return nil, mongoerr.Errorf(mongoerr.CannotIndexParallelArrays, "cannot index parallel arrays [%s] [%s]", p.name, name)
		default:
			array, name, within[i] = p.value, p.name, true
			entire = entire || nested
		}
	}
	if array.Missing() {
		if ix.sparse && missing == len(parts) {
			return keys, nil
		}
		return append(keys, finished(parts)), nil
	}
	return ix.enter(keys, parts, within, array, missing, entire)
}

// enter makes keys for each element of an array; an empty one counts as one undefined element. Entire says that parts which
// end here have the array itself as their value.
func (ix *Index) enter(keys []Key, parts []part, within []bool, array query.Value, missing int, entire bool) ([]Key, error) {
	elements := query.Elements(array.Data)
	if len(elements) == 0 {
		elements, entire = []query.Value{undefinedValue}, false
	}
	parts = slices.Clone(parts)
	for i := range parts {
		parts[i].placed = nil
		if within[i] && len(parts[i].path) > 0 {
			parts[i].place(array.Data)
		}
	}
	var err error
	for _, element := range elements {
		each := slices.Clone(parts)
		for i := range each {
			if !within[i] || len(each[i].path) > 0 {
				continue
			}
			each[i].path = nil
			if !entire {
				each[i].value = element
			}
		}
		doc := query.EmptyDocument
		if element.IsDocument() {
			doc = element.Data
		}
		if keys, err = ix.expand(keys, each, doc, missing); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

func finished(parts []part) Key {
	key := make(Key, len(parts))
	for i := range parts {
		key[i] = parts[i].value
	}
	return key
}

// advance follows the path from doc up to its end or the first array. It reports whether it came by an element's place to an
// array within the array.
func (p *part) advance(doc []byte) (bool, error) {
	first := query.Lookup(doc, p.path[0])
	switch {
	case first.Missing() && p.placed == nil:
		p.value = query.Value{}
		return false, nil
	case first.Missing():
		nested := p.nested
		*p = *p.placed
		return nested, nil
	case p.placed != nil:
		return false, mongoerr.Errorf(16746, "Ambiguous field name found in array (do not use numeric field names in embedded elements in "+
			"an array), field: '%s' for array: %s", p.path[0], query.DocumentText(p.array))
	}
	p.follow(doc)
	return false, nil
}

// follow sets the value that the path leads to in doc, or the first array on the way, and the part of the path that is left.
func (p *part) follow(doc []byte) {
	for {
		p.value, p.name = query.Lookup(doc, p.path[0]), p.path[0]
		p.path = p.path[1:]
		if len(p.path) == 0 || !p.value.IsDocument() {
			break
		}
		doc = p.value.Data
	}
	if len(p.path) > 0 && !p.value.IsArray() {
		p.value = query.Value{}
	}
}

// place notes where the path goes on if its next component is the place of an element of the array.
func (p *part) place(array []byte) {
	element := query.Lookup(array, p.path[0])
	if element.Missing() {
		return
	}
	p.placed, p.nested, p.array = &part{path: p.path}, element.IsArray(), array
	p.placed.follow(array)
}

// Encode returns a string that equal keys share.
func (k Key) Encode() string {
	var dst []byte
	for _, v := range k {
		dst = append(query.AppendKey(dst, v), 0)
	}
	return string(dst)
}

// compare orders keys as the index of a pattern does.
func (k Key) compare(other Key, pattern []byte) int {
	it := wire.Elements(pattern)
	for i := 0; i < len(k) && i < len(other) && it.Next(); i++ {
		c := query.Compare(k[i], other[i])
		if c == 0 {
			continue
		}
		if query.Of(it.Element).AsFloat64() < 0 {
			return -c
		}
		return c
	}
	return 0
}
