package query

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// elemMatch is met by an array with an element that meets all conditions at once.
type elemMatch struct {
	nodes      []node      // of the document form
	conditions []condition // of the value form
}

func (p *filterParser) elemMatch(v Value) (condition, error) {
	if !v.IsDocument() {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "$elemMatch needs an Object")
	}
	inner := filterParser{inner: true, at: "(None)", shown: p.shown || p.array, collation: p.collation, searches: p.searches, counted: p.counted}
	var m elemMatch
	var err error
	if isExpression(v) && !isLogical(v) && !hasReferenceField(v) {
		m.conditions, err = inner.operators(v.Data)
	} else {
		m.nodes, err = inner.filter(v.Data, []node{})
	}
	return &m, err
}

// isLogical reports whether a document begins with an operator of whole filters.
func isLogical(v Value) bool {
	it := wire.Elements(v.Data)
	it.Next()
	switch string(it.Key) {
	case "$and", "$or", "$nor", "$where", "$expr", "$text", "$jsonSchema", "$alwaysTrue", "$alwaysFalse", "$sampleRate", "$comment":
		return true
	}
	return false
}

func (c *elemMatch) onPath(p path, doc []byte, m *Matching) bool {
	return p.walk(doc, func(v Value, at spot) bool {
		n, ok := c.first(v, m)
		if ok {
			m.found(at.into(n).element)
		}
		return ok
	})
}

func (c *elemMatch) onValue(v Value, m *Matching) bool {
	_, ok := c.first(v, m)
	return ok
}

// first returns the index of the first element of an array that meets all conditions.
func (c *elemMatch) first(v Value, m *Matching) (int, bool) {
	if !v.IsArray() {
		return 0, false
	}
	it := wire.Elements(v.Data)
	for n := 0; it.Next(); n++ {
		if c.element(Of(it.Element), m) {
			return n, true
		}
	}
	return 0, false
}

func (c *elemMatch) element(v Value, m *Matching) bool {
	defer m.restore(m.save())
	if c.nodes != nil {
		return (v.IsDocument() || v.IsArray()) && matchAll(c.nodes, v.Data, m)
	}
	return every(c.conditions).onValue(v, m)
}

// all compiles $all: every one of some values, or of some $elemMatch.
func (p *filterParser) all(v Value) (condition, error) {
	if !v.IsArray() {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "$all needs an array")
	}
	var all every
	list := v.elements()
	for _, e := range list {
		c, err := p.allElement(e, isElemMatch(list[0]))
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return never{}, nil
	}
	return all, nil
}

func (p *filterParser) allElement(e Value, nested bool) (condition, error) {
	switch {
	case nested && !isElemMatch(e):
		return nil, mongoerr.Errorf(mongoerr.BadValue, "$all/$elemMatch has to be consistent")
	case nested:
		return p.elemMatch(Lookup(e.Data, "$elemMatch"))
	case e.Type == bson.TypeRegex:
		return parseRegexValue(e)
	case e.Type == bson.TypeUndefined:
		return nil, mongoerr.Errorf(mongoerr.BadValue, "cannot compare to undefined")
	case e.IsDocument() && isFieldOperator(e):
		return nil, mongoerr.Errorf(mongoerr.BadValue, "no $ expressions in $all")
	}
	return p.equality(e), nil
}

func isElemMatch(v Value) bool {
	if !v.IsDocument() {
		return false
	}
	it := wire.Elements(v.Data)
	return it.Next() && string(it.Key) == "$elemMatch"
}

// isFieldOperator reports whether a document begins with an operator that may stand behind a field's name; $not may not be
// pulled by.
func isFieldOperator(v Value) bool {
	it := wire.Elements(v.Data)
	it.Next()
	switch string(it.Key) {
	case "$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$exists", "$type", "$mod", "$regex", "$options", "$size",
		"$all", "$elemMatch", "$bitsAllSet", "$bitsAllClear", "$bitsAnySet", "$bitsAnyClear", "$geoWithin", "$geoIntersects",
		"$near", "$nearSphere", "$within":
		return true
	}
	return false
}
