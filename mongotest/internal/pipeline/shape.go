package pipeline

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/expr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// mode is what becomes of the fields that a shape does not name.
type mode int

const (
	dropOthers mode = iota // an inclusion
	keepOthers             // an exclusion, or fields to add
)

// shape is a tree of fields to keep, to leave out or to compute, which projections and $addFields are compiled to.
type shape struct {
	mode     mode
	names    []string // in the order written
	children map[string]*shape
	leaf     bool            // the field is kept, or left out if others are kept
	value    expr.Expression // computed; nil for none
	computes bool            // a value is computed here or below
}

func newShape(m mode) *shape { return &shape{mode: m, children: make(map[string]*shape)} }

// isEnd reports whether the tree ends here.
func (s *shape) isEnd() bool { return s.leaf || s.value != nil }

// child returns the child of a name, made if there is none.
func (s *shape) child(name string) *shape {
	c := s.children[name]
	if c == nil {
		c = newShape(s.mode)
		s.children[name] = c
		s.names = append(s.names, name)
	}
	return c
}

// add puts an end into the tree: a computed value, or a leaf if it is nil. It does not look for collisions.
func (s *shape) add(path fieldPath, value expr.Expression) {
	s.computes = s.computes || value != nil
	c := s.child(path[0])
	if len(path) > 1 {
		c.add(path[1:], value)
		return
	}
	c.leaf, c.value, c.computes = value == nil, value, value != nil
}

// collision returns the part of a path at whose end the tree ends already, or which the tree goes beyond, and the rest.
func (s *shape) collision(path fieldPath) (at, rest fieldPath, found bool) {
	for i, name := range path {
		c := s.children[name]
		if c == nil {
			return nil, nil, false
		}
		if c.isEnd() || i == len(path)-1 {
			return path[:i+1], path[i+1:], true
		}
		s = c
	}
	return nil, nil, false
}

// apply returns what the shape makes of a document. To leave fields out of a document that was read, or to keep only some, the
// real server copies the bytes of the others; otherwise it takes values out of a document in memory.
func (s *shape) apply(r *runner, doc []byte) ([]byte, error) {
	out, err := s.document(r, doc, doc)
	if err == nil && !s.computes && !query.IsMade(doc) {
		out = query.Plain(out)
	}
	return out, err
}

// document shapes a document that is root or inside it.
func (s *shape) document(r *runner, root, doc []byte) ([]byte, error) {
	var kept object
	for _, f := range query.ObjectOf(doc) {
		c := s.children[f.Name]
		switch {
		case s.mode == dropOthers && (c == nil || f.Value.Missing()):
			continue
		case c == nil || f.Value.Missing():
		case c.leaf && s.mode == keepOthers:
			f.Value = missing
		case c.value != nil && s.mode == dropOthers:
			continue // computed values come behind those kept
		case c.computes: // in its turn
		case !c.isEnd():
			v, err := c.within(r, root, f.Value)
			if err != nil {
				return nil, err
			}
			f.Value = v
		}
		kept = append(kept, f)
	}
	if s.computes {
		return s.compute(r, root, doc, kept)
	}
	return kept.Made().Data, nil
}

// compute adds the computed values, and the documents that hold such, in the order written.
func (s *shape) compute(r *runner, root, doc []byte, kept object) ([]byte, error) {
	var out query.Builder
	out.Add(kept)
	var was map[string]Value // the document's fields, nil if none was asked for yet
	for _, name := range s.names {
		c := s.children[name]
		var v Value
		var err error
		switch {
		case c.value != nil:
			v, err = r.eval(c.value, root)
		case c.computes:
			if was == nil {
				was = fieldsOf(doc)
			}
			v, err = c.within(r, root, was[name])
		default:
			continue
		}
		if err != nil {
			return nil, err
		}
		out.Set(name, v)
	}
	return out.Made().Data, nil
}

// fieldsOf returns the fields of a document, of several of a name the first.
func fieldsOf(doc []byte) map[string]Value {
	fields := make(map[string]Value)
	for _, f := range query.ObjectOf(doc) {
		if _, again := fields[f.Name]; !again {
			fields[f.Name] = f.Value
		}
	}
	return fields
}

// within shapes the value of a field that the tree goes beyond.
func (s *shape) within(r *runner, root []byte, v Value) (Value, error) {
	switch {
	case v.IsDocument():
		doc, err := s.document(r, root, v.Data)
		return query.Document(doc), err
	case v.IsArray():
		elements := query.Elements(v.Data)
		for i := range elements {
			var err error
			if elements[i], err = s.within(r, root, elements[i]); err != nil {
				return missing, err
			}
		}
		return array(elements), nil
	case s.computes:
		doc, err := s.document(r, root, query.EmptyDocument)
		return query.Document(doc), err
	case s.mode == dropOthers:
		return missing, nil
	}
	return v, nil
}
