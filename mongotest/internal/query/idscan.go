package query

import (
	"cmp"
	"slices"
)

// IDScan is one look into the index of _id, which is all that a collection has that has no other: it finds, in the order of
// the _ids, what meets conditions on the _id, and keeps what meets some others.
type IDScan struct {
	bounds []node // on the _id, one after the other
	rest   []node
}

// IDScans returns how the real server finds what a filter asks for where there is no index but that of _id: by these looks
// into it, one after the other, each document once. Without any it reads the whole collection. The index has a collation, nil
// for none: a filter with another one does not look into it for texts.
func (f *Filter) IDScans(of Collation) []IDScan {
	return idScans(f.all, lookups{texts: f.collation == of, patterns: of == nil})
}

// Bounds reports whether a document's _id is one that the scan comes by.
func (s *IDScan) Bounds(doc []byte) bool { return matchAll(s.bounds, doc, nil) }

// Keeps reports whether a document that the scan comes by meets the other conditions. Its error is that of an $expr.
func (s *IDScan) Keeps(doc []byte, m *Matching) (bool, error) {
	m.element, m.err = 0, nil
	ok := matchAll(s.rest, doc, m)
	return ok && m.err == nil, m.err
}

// lookups are what an index may be looked into for, besides what has no texts in it.
type lookups struct {
	texts    bool // it has the filter's collation
	patterns bool // it has no collation, so that regular expressions see its texts
}

// idScans are those of conditions that must all hold.
func idScans(all []node, l lookups) []IDScan {
	var bounds []node
	for _, n := range all {
		if indexed(n, l) {
			bounds = append(bounds, n)
		}
		if nor, ok := n.(norNode); ok {
			bounds = append(bounds, nor.indexed(l)...)
		}
	}
	if len(bounds) > 0 {
		return []IDScan{{bounds: bounds, rest: all}}
	}
	for _, n := range all {
		if or, ok := n.(orNode); ok {
			if scans := or.idScans(l); scans != nil {
				return scans
			}
		}
	}
	return nil
}

// idScans are those of the branches, nil if there are none of one of them. Branches of several conditions come first, in the
// order of these; the others, of the _id alone, are one scan.
func (n orNode) idScans(l lookups) []IDScan {
	var scans []IDScan
	var several [][]node
	var alone orNode
	for _, branch := range n.flat() {
		switch {
		case idScans(branch, l) == nil:
			return nil
		case len(branch) == 1:
			alone = append(alone, branch)
		default:
			several = append(several, slices.SortedStableFunc(slices.Values(branch), compareLookedUp(l)))
		}
	}
	slices.SortStableFunc(several, func(a, b []node) int { return slices.CompareFunc(a, b, compareByPath) })
	for _, branch := range several {
		scans = append(scans, idScans(branch, l)...)
	}
	if alone != nil {
		scans = append(scans, IDScan{bounds: []node{alone}})
	}
	return scans
}

// compareLookedUp puts what an index is looked into for first.
func compareLookedUp(l lookups) func(a, b node) int {
	return func(a, b node) int {
		return cmp.Or(boolCompare(indexed(b, l), indexed(a, l)), compareByPath(a, b))
	}
}

// compareByPath compares the paths of conditions, which negations and those on whole documents have none of, then their kinds.
func compareByPath(a, b node) int {
	return cmp.Or(slices.Compare(plainPath(a), plainPath(b)), compareNodes(a, b))
}

func plainPath(n node) path {
	if p, ok := n.(*pathNode); ok {
		if _, negated := p.condition.(not); !negated {
			return p.path
		}
	}
	return nil
}

// flat returns the branches with those of an $or instead of it.
func (n orNode) flat() [][]node {
	var list [][]node
	for _, branch := range n {
		if len(branch) == 1 {
			if or, ok := branch[0].(orNode); ok {
				list = append(list, or.flat()...)
				continue
			}
		}
		list = append(list, branch)
	}
	return list
}

// indexed reports whether a condition is one on the _id that says where in an index to look.
func indexed(n node, l lookups) bool {
	p, ok := n.(*pathNode)
	return ok && len(p.path) == 1 && p.path[0] == "_id" && l.sayWhere(p.condition)
}

func (l lookups) sayWhere(c condition) bool {
	switch c := c.(type) {
	case *equality:
		return l.has(c.value)
	case every:
		return slices.ContainsFunc(c, l.sayWhere)
	case not:
		return len(c) == 1 && l.sayWhereNot(c[0])
	case *leaf:
		switch p := uncollated(c.predicate).(type) {
		case order:
			return l.has(p.operand)
		case in:
			return l.hasAll(p)
		case regex:
			return l.patterns
		case mod, exists, typeSet:
			return true
		}
	}
	return false
}

// has reports whether the index may be looked into for a value.
func (l lookups) has(v Value) bool { return l.texts || !HasText(v) }

// hasAll reports whether the index may be looked into for all of a list.
func (l lookups) hasAll(p in) bool {
	return (l.texts || p.keys == nil) && !slices.ContainsFunc(p.list, func(each predicate) bool {
		switch each := uncollated(each).(type) {
		case equalTo:
			return !l.has(each.value)
		case regex:
			return !l.patterns
		}
		return false
	})
}

// uncollated returns a predicate as it is without a collation.
func uncollated(p predicate) predicate {
	if k, ok := p.(keyed); ok {
		return k.predicate
	}
	return p
}

// sayWhereNot is sayWhere of a negated condition.
func (l lookups) sayWhereNot(c condition) bool {
	if leaf, ok := c.(*leaf); ok {
		switch p := uncollated(leaf.predicate).(type) {
		case order:
			return l.has(p.operand)
		case exists:
			return true
		case in:
			return l.hasAll(p) && !slices.ContainsFunc(p.list, func(each predicate) bool { _, is := each.(regex); return is })
		}
		return false
	}
	equal, is := c.(*equality)
	return is && l.has(equal.value)
}

// indexed returns the conditions of a $nor that say where in an index to look. There are some only where the real server writes the $nor as
// the opposites of single conditions: of its only one, or of all if one of them is an $or of such, though no list of values of one path.
func (n norNode) indexed(l lookups) []node {
	var list []node
	splits := len(n) == 1
	for _, branch := range n {
		if len(branch) != 1 {
			return nil
		}
		single := [][]node{branch}
		if or, ok := branch[0].(orNode); ok {
			values := or.areValues()
			if values && len(n) > 1 || !values && len(n) == 1 {
				continue
			}
			single, splits = or.flat(), true
		}
		for _, each := range single {
			p, ok := each[0].(*pathNode)
			if !ok || len(each) > 1 {
				return nil
			}
			if len(p.path) == 1 && p.path[0] == "_id" && l.sayWhereNot(p.condition) {
				list = append(list, norNode{each})
			}
		}
	}
	if !splits {
		return nil
	}
	return list
}

// areValues reports whether an $or asks for values of one path.
func (n orNode) areValues() bool {
	var first path
	for i, branch := range n.flat() {
		p, ok := branch[0].(*pathNode)
		if !ok || len(branch) > 1 {
			return false
		}
		if _, equal := p.condition.(*equality); !equal || i > 0 && !slices.Equal(first, p.path) {
			return false
		}
		first = p.path
	}
	return true
}
