package query

import (
	"slices"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// checkPositional refuses a filter that says of no element that the document was met by it.
func (f *Filter) checkPositional() error {
	if f.near != nil {
		return errNearHere
	}
	if f.text != nil {
		return mongoerr.Errorf(mongoerr.BadValue, "$text is not allowed in this context")
	}
	var name string
	f.asksAnywhere(func(n node) bool {
		switch n.(type) {
		case exprNode:
			name = "$expr"
		case schemaNode:
			name = "$jsonSchema"
		}
		return name != ""
	})
	if name != "" {
		return mongoerr.Errorf(mongoerr.QueryFeatureNotAllowed, "%s is not allowed in this context", name)
	}
	return nil
}

// asksAnywhere reports whether a condition on the whole document is one of a kind.
func (f *Filter) asksAnywhere(is func(node) bool) bool { return asks(f.all, is) }

func asks(nodes []node, is func(node) bool) bool {
	within := func(nodes []node) bool { return asks(nodes, is) }
	return slices.ContainsFunc(nodes, func(n node) bool {
		switch n := n.(type) {
		case orNode:
			return slices.ContainsFunc(n, within)
		case norNode:
			return slices.ContainsFunc(n, within)
		}
		return is(n)
	})
}

// Upsert returns the document that an upsert inserts when the filter matches nothing. Its _id is Missing if neither the
// filter nor the update names one.
func (u *Update) Upsert(f *Filter, env Env) ([]byte, error) {
	env.Insert = true
	base, err := f.seed(u.replacement != nil)
	if err != nil {
		return nil, err
	}
	if env.Match != nil {
		env.Match.element = 0
	}
	next, err := u.apply(base, &env)
	if err != nil {
		return nil, err
	}
	return FrontID(Lookup(next, "_id"), next), u.checkInsert(base, next)
}

// seed returns the document that the filter's equalities describe, only the _id with idOnly.
func (f *Filter) seed(idOnly bool) ([]byte, error) {
	if f.only {
		return FrontID(f.id, EmptyDocument), nil
	}
	s := seeds{root: &target{}, idOnly: idOnly}
	for _, n := range f.all {
		if err := s.add(n); err != nil {
			return nil, err
		}
	}
	return s.root.document(nil, EmptyDocument, &Env{Insert: true})
}

// seeds gathers what a filter says that fields are.
type seeds struct {
	root   *target
	paths  []path
	idOnly bool
}

func (s *seeds) add(n node) error {
	p, ok := n.(*pathNode)
	if !ok || s.idOnly && p.path[0] != "_id" {
		return nil
	}
	return s.condition(p.path, p.condition)
}

func (s *seeds) condition(p path, c condition) error {
	switch c := c.(type) {
	case every: // of an $all
		for _, part := range c {
			if err := s.condition(p, part); err != nil {
				return err
			}
		}
	case *equality:
		return s.equal(p, c.value)
	}
	return nil
}

func (s *seeds) equal(p path, v Value) error {
	if s.idOnly && len(p) > 1 {
		return mongoerr.Errorf(mongoerr.NotExactValueField, "field at '_id' must be exactly specified, field at sub-path '%s'found", dotted(p))
	}
	for _, other := range s.paths {
		n := min(len(p), len(other))
		switch {
		case !slices.Equal(p[:n], other[:n]):
		case len(p) == len(other):
			return mongoerr.Errorf(mongoerr.NotSingleValueField, "cannot infer query fields to set, path '%s' is matched twice", dotted(p))
		default:
			return mongoerr.Errorf(mongoerr.NotSingleValueField, "cannot infer query fields to set, both paths '%s' and '%s' are matched", dotted(p),
				dotted(other))
		}
	}
	s.paths = append(s.paths, p)
	return s.root.addPath(p, set(v), nil)
}
