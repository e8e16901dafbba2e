package query

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// push is $push, with its modifiers.
type push struct {
	each     []Value
	position *int64
	slice    *int64
	sort     *ElementSort
}

func parsePush(_ string, v Value) (operator, error) {
	p := &push{}
	if !v.IsDocument() || Lookup(v.Data, "$each").Missing() {
		p.each = []Value{v}
		return p, nil
	}
	it := wire.Elements(v.Data)
	for it.Next() {
		if err := p.modifier(string(it.Key), Of(it.Element)); err != nil {
			return nil, err
		}
	}
	return p, it.Err
}

func (p *push) modifier(name string, v Value) error {
	var err error
	switch name {
	case "$each":
		if !v.IsArray() {
			return mongoerr.Errorf(mongoerr.BadValue, "The argument to $each in $push must be an array but it was of type: %s", TypeName(v.Type))
		}
		p.each = v.elements()
	case "$position":
		p.position, err = pushNumber(name, v, ", not of")
	case "$slice":
		p.slice, err = pushNumber(name, v, " but was given")
	case "$sort":
		p.sort, err = ParseElementSort(v)
	default:
		return mongoerr.Errorf(mongoerr.BadValue, "Unrecognized clause in $push: %s", name)
	}
	return err
}

func pushNumber(name string, v Value, given string) (*int64, error) {
	n, ok := v.Integer()
	if !ok {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "The value for %s must be an integer value%s type: %s", name, given, TypeName(v.Type))
	}
	return &n, nil
}

func (p *push) collated(c Collation) operator {
	by := *p
	if p.sort != nil {
		by.sort = p.sort.Collated(c)
	}
	return &by
}

func (p *push) apply(old Value, env *Env) (Value, error) {
	if !old.Missing() && !old.IsArray() {
		return Value{}, mongoerr.Errorf(mongoerr.BadValue, "The field '%s' must be an array but is of type %s in document %s", dotted(env.path),
			TypeName(old.Type), idOf(env))
	}
	var list []Value
	if !old.Missing() {
		list = old.elements()
	}
	env.forced = env.forced || len(p.each) > 0 || p.sort != nil
	list = slices.Insert(list, p.at(len(list)), p.each...)
	if p.sort != nil {
		if err := p.sort.Sort(env.work(), list); err != nil {
			return Value{}, err
		}
	}
	return Array(p.cut(list)), nil
}

// at returns where in a list of n the new elements go.
func (p *push) at(n int) int {
	switch {
	case p.position == nil || *p.position >= int64(n):
		return n
	case *p.position >= 0:
		return int(*p.position)
	}
	return max(0, n+int(max(*p.position, -int64(n))))
}

func (p *push) cut(list []Value) []Value {
	switch {
	case p.slice == nil:
		return list
	case *p.slice >= 0:
		return list[:min(int64(len(list)), *p.slice)]
	}
	return list[max(0, int64(len(list))+max(*p.slice, -int64(len(list)))):]
}

// ElementSort is an order of an array's elements: of whole elements, or by fields of embedded documents.
type ElementSort struct {
	whole     int
	by        *Sort
	collation Collation
}

// ParseElementSort reads the $sort of a $push.
func ParseElementSort(v Value) (*ElementSort, error) {
	n, ok := v.Integer()
	switch {
	case v.IsDocument():
		by, err := parsePattern(v.Data)
		return &ElementSort{by: by}, err
	case !v.IsNumber():
		return nil, mongoerr.Errorf(mongoerr.BadValue, "The $sort is invalid: use 1/-1 to sort the whole element, or {field:1/-1} to sort embedded "+
			"fields")
	case !ok || n != 1 && n != -1:
		return nil, mongoerr.Errorf(mongoerr.BadValue, "The $sort element value must be either 1 or -1")
	}
	return &ElementSort{whole: int(n)}, nil
}

func parsePattern(doc []byte) (*Sort, error) {
	var s Sort
	it := wire.Elements(doc)
	for it.Next() {
		name := string(it.Key)
		v := Of(it.Element)
		n, ok := v.Integer()
		switch {
		case !v.IsNumber() || !ok || n != 1 && n != -1:
			return nil, mongoerr.Errorf(mongoerr.BadValue, "The sort element value must be either 1 or -1")
		case name == "":
			return nil, mongoerr.Errorf(mongoerr.BadValue, "The sort field cannot be empty")
		case slices.Contains(splitPath(name), ""):
			return nil, mongoerr.Errorf(mongoerr.BadValue, "The sort field is a dotted field but has an empty part: %s", name)
		}
		s.keys = append(s.keys, sortKey{path: splitPath(name), sign: int(n)})
	}
	if len(s.keys) == 0 {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "The sort pattern is empty when it should be a set of fields.")
	}
	return &s, it.Err
}

// Sort sorts elements, keeping the order of equal ones.
func (s *ElementSort) Sort(w *Work, elements []Value) error {
	return SortStable(w, elements, s.Compare)
}

// Compare orders two elements. Unlike the order of documents, this one compares arrays in them as wholes.
func (s *ElementSort) Compare(a, b Value) int {
	if s.by == nil {
		return CompareBy(s.collation, a, b) * s.whole
	}
	for _, k := range s.by.keys {
		if c := CompareBy(s.collation, partOf(a, k.path), partOf(b, k.path)); c != 0 {
			return c * k.sign
		}
	}
	return 0
}

// partOf returns the value at a path of a document, where a part of the path may be the index of an array, and null if there is none.
func partOf(v Value, p path) Value {
	if !v.IsDocument() {
		return Value{Type: bson.TypeNull}
	}
	for _, name := range p {
		if !v.IsDocument() && !v.IsArray() {
			return Value{Type: bson.TypeNull}
		}
		v = Lookup(v.Data, name)
	}
	if v.Missing() {
		return Value{Type: bson.TypeNull}
	}
	return v
}

// addToSet is $addToSet.
type addToSet struct {
	each []Value
	by   Collation
}

func (a addToSet) collated(c Collation) operator {
	a.by = c
	return a
}

func parseAddToSet(_ string, v Value) (operator, error) {
	if !v.IsDocument() {
		return addToSet{each: []Value{v}}, nil
	}
	it := wire.Elements(v.Data)
	if !it.Next() || string(it.Key) != "$each" {
		return addToSet{each: []Value{v}}, nil
	}
	if it.Type != bson.TypeArray {
		return nil, mongoerr.Errorf(mongoerr.TypeMismatch, "The argument to $each in $addToSet must be an array but it was of type %s",
			TypeName(it.Type))
	}
	each := Of(it.Element).elements()
	if it.Next() {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "Found unexpected fields after $each in $addToSet: %s", v)
	}
	return addToSet{each: each}, nil
}

func (a addToSet) apply(old Value, env *Env) (Value, error) {
	if !old.Missing() && !old.IsArray() {
		return Value{}, mongoerr.Errorf(mongoerr.BadValue, "Cannot apply $addToSet to non-array field. Field named '%s' has non-array type %s",
			env.field(), TypeName(old.Type))
	}
	var list []Value
	if !old.Missing() {
		list = old.elements()
	}
	n := len(list)
	known := setOf(a.by, list)
	for _, v := range a.each {
		if known.Add(Keyed(a.by, v)) {
			list = append(list, v)
		}
		if err := env.work().Do(1); err != nil {
			return Value{}, err
		}
	}
	if len(list) == n && !old.Missing() {
		return old, nil
	}
	return Array(list), nil
}

// pull is $pull and $pullAll: it removes the elements that match, for which a collation may be needed.
type pull struct {
	removes func(Value) bool
	recoded func(c Collation) (pull, error)
}

// collated is the same by a collation, with which what has been compiled can be compiled again.
func (p pull) collated(c Collation) operator {
	by, err := p.recoded(c)
	if err != nil {
		return p
	}
	return by
}

func parsePull(_ string, v Value) (operator, error) { return pulling(v, nil) }

func pulling(v Value, c Collation) (pull, error) {
	p := filterParser{inner: true, array: true, collation: c}
	again := func(c Collation) (pull, error) { return pulling(v, c) }
	switch {
	case isExpression(v) && isFieldOperator(v), v.Type == bson.TypeRegex:
		conditions, err := p.conditions(v)
		all := every(conditions)
		return pull{func(e Value) bool { return all.onPath(path{""}, wrapped("", e), nil) }, again}, err
	case v.IsDocument():
		nodes, err := p.filter(v.Data, nil)
		return pull{func(e Value) bool { return e.IsDocument() && matchAll(nodes, e.Data, nil) }, again}, err
	}
	return pull{func(e Value) bool { return EqualBy(c, e, v) }, again}, nil
}

func parsePullAll(_ string, v Value) (operator, error) {
	if !v.IsArray() {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "$pullAll requires an array argument but was given a %s", TypeName(v.Type))
	}
	list := v.elements()
	return pullingAll(list, nil), nil
}

func pullingAll(list []Value, c Collation) pull {
	set := setOf(c, list)
	return pull{func(v Value) bool { return set.Has(Keyed(c, v)) }, func(c Collation) (pull, error) { return pullingAll(list, c), nil }}
}

func (p pull) apply(old Value, env *Env) (Value, error) {
	if old.Missing() {
		return old, nil
	}
	if !old.IsArray() {
		return Value{}, mongoerr.Errorf(mongoerr.BadValue, "Cannot apply $pull to a non-array value")
	}
	list := old.elements()
	kept := make([]Value, 0, len(list))
	for _, v := range list {
		if err := env.work().Do(1); err != nil {
			return Value{}, err
		}
		if !p.removes(v) {
			kept = append(kept, v)
		}
	}
	if len(kept) == len(list) {
		return old, nil
	}
	return Array(kept), nil
}

// pop is $pop: it removes the first element or the last.
type pop struct{ first bool }

func parsePop(field string, v Value) (operator, error) {
	n, refused := IntegerOf(field, v)
	switch {
	case refused != "":
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "%s", refused)
	case n != 1 && n != -1:
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "$pop expects 1 or -1, found: %d", n)
	}
	return pop{n < 0}, nil
}

func (p pop) apply(old Value, env *Env) (Value, error) {
	if old.Missing() {
		return old, nil
	}
	if !old.IsArray() {
		return Value{}, mongoerr.Errorf(mongoerr.TypeMismatch, "Path '%s' contains an element of non-array type '%s'", dotted(env.path),
			TypeName(old.Type))
	}
	list := old.elements()
	switch {
	case len(list) == 0:
		return old, nil
	case p.first:
		return Array(list[1:]), nil
	}
	return Array(list[:len(list)-1]), nil
}

// Collated returns an order of elements that compares strings by a collation.
func (s *ElementSort) Collated(c Collation) *ElementSort {
	if c == nil {
		return s
	}
	return &ElementSort{by: s.by, whole: s.whole, collation: c}
}
