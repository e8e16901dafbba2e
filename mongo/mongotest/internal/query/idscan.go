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
// into it, one after the other, each document once. Without any it reads the whole collection.
func (f *Filter) IDScans() []IDScan {
	if f.collation != nil {
		return nil
	}
	return idScans(f.all)
}

// Bounds reports whether a document's _id is one that the scan comes by.
func (s *IDScan) Bounds(doc []byte) bool { return matchAll(s.bounds, doc, nil) }

// Keeps reports whether a document that the scan comes by meets the other conditions. Its error is that of an $expr.
func (s *IDScan) Keeps(doc []byte, m *Matching) (bool, error) {
	m.element, m.err = 0, nil
	ok := matchAll(s.rest, doc, m)
	return ok && m.err == nil, m.err
}

// idScans are those of conditions that must all hold.
func idScans(all []node) []IDScan {
	var bounds []node
	for _, n := range all {
		if indexed(n) {
			bounds = append(bounds, n)
		}
	}
	if len(bounds) > 0 {
		return []IDScan{{bounds: bounds, rest: all}}
	}
	for _, n := range all {
		if or, ok := n.(orNode); ok {
			if scans := or.idScans(); scans != nil {
				return scans
			}
		}
	}
	return nil
}

// idScans are those of the branches, nil if there are none of one of them. Branches of several conditions come first, in the
// order of these; the others, of the _id alone, are one scan.
func (n orNode) idScans() []IDScan {
	var scans []IDScan
	var several [][]node
	var alone orNode
	for _, branch := range n.flat() {
		switch {
		case idScans(branch) == nil:
			return nil
		case len(branch) == 1:
			alone = append(alone, branch)
		default:
			several = append(several, slices.SortedStableFunc(slices.Values(branch), compareLookedUp))
		}
	}
	slices.SortStableFunc(several, func(a, b []node) int { return slices.CompareFunc(a, b, compareByPath) })
	for _, branch := range several {
		scans = append(scans, idScans(branch)...)
	}
	if alone != nil {
		scans = append(scans, IDScan{bounds: []node{alone}})
	}
	return scans
}

// compareLookedUp puts what an index is looked into for first.
func compareLookedUp(a, b node) int {
	return cmp.Or(boolCompare(indexed(b), indexed(a)), compareByPath(a, b))
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

// flat returns the branches with those of an $or in the place of it.
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
func indexed(n node) bool {
	p, ok := n.(*pathNode)
	return ok && len(p.path) == 1 && p.path[0] == "_id" && sayWhere(p.condition)
}

func sayWhere(c condition) bool {
	switch c := c.(type) {
	case *equality:
		return true
	case every:
		return slices.ContainsFunc(c, sayWhere)
	case not:
		return len(c) == 1 && sayWhereNot(c[0])
	case *leaf:
		switch c.predicate.(type) {
		case order, in, regex, mod, exists, typeSet:
			return true
		}
	}
	return false
}

// sayWhereNot is sayWhere of a negated condition.
func sayWhereNot(c condition) bool {
	if l, ok := c.(*leaf); ok {
		switch p := l.predicate.(type) {
		case order, exists:
			return true
		case in:
			return !slices.ContainsFunc(p.list, func(each predicate) bool { _, is := each.(regex); return is })
		}
		return false
	}
	_, equal := c.(*equality)
	return equal
}
