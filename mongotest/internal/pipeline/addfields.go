package pipeline

import (
	"iter"
	"strings"

	"github.com/holdfast-db/holdfast/mongotest/internal/expr"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/addFields/
// https://www.mongodb.com/docs/manual/reference/operator/aggregation/set/

func parseAddFields(p *parser, name string, spec Value) (stage, error) {
	if !spec.IsDocument() {
		return nil, mongoerr.Errorf(40272, "%s specification stage must be an object, got %s", name, typeName(spec))
	}
	a := &addition{parser: p, shape: newShape(keepOthers), whole: spec}
	for _, f := range query.ObjectOf(spec.Data) {
		if err := a.field(nil, f, spec); err != nil {
			return nil, because("Invalid "+name, err)
		}
	}
	return perDocument(a.shape.apply), nil
}

// addition is fields to add while they are parsed.
type addition struct {
	*parser
	shape *shape
	whole Value          // the specification
	paths map[string]int // with the order in which they were added
	above map[string]int // of each part in front of a path, the first path
}

func (a *addition) field(prefix fieldPath, f field, object Value) error {
	path, err := query.FieldPath(f.Name)
	if err != nil {
		return err
	}
	if len(prefix) > 0 && len(path) > 1 {
		return mongoerr.Errorf(40183, "cannot use dotted field name '%s' in a sub object: %s", f.Name, a.whole)
	}
	path = append(prefix[:len(prefix):len(prefix)], path...)
	if f.Value.IsDocument() {
		return a.document(path, f, object)
	}
	return a.add(path, f.Value)
}

// document takes a document: an expression, or fields to add inside.
func (a *addition) document(path fieldPath, f field, object Value) error {
	inner := query.ObjectOf(f.Value.Data)
	if len(inner) == 0 {
		return a.add(path, f.Value)
	}
	for _, g := range inner {
		if !strings.HasPrefix(g.Name, "$") {
			continue
		}
		if len(inner) > 1 {
			return mongoerr.Errorf(40181,
				"an expression specification must contain exactly one field, the name of the expression. Found %d fields in %s, "+
					"while parsing object %s", len(inner), f.Value, object)
		}
		return a.add(path, f.Value)
	}
	for _, g := range inner {
		if err := a.field(path, g, f.Value); err != nil {
			return err
		}
	}
	return nil
}

func (a *addition) add(path fieldPath, v Value) error {
	if err := a.checkConflict(path.String()); err != nil {
		return err
	}
	e, err := a.value(v)
	if err != nil {
		return err
	}
	a.shape.add(path, e)
	return nil
}

func (a *addition) value(v Value) (expr.Expression, error) { return a.expression(v) }

func (a *addition) checkConflict(path string) error {
	if a.paths == nil {
		a.paths, a.above = make(map[string]int), make(map[string]int)
	}
	n := len(a.paths)
	first := n
	if i, ok := a.above[path]; ok {
		first = i
	}
	for part := range fronts(path + ".") {
		if i, ok := a.paths[part]; ok {
			first = min(first, i)
		}
	}
	if first < n {
		return a.conflict(path, first)
	}
	a.paths[path] = n
	for part := range fronts(path) {
		if _, ok := a.above[part]; !ok {
			a.above[part] = n
		}
	}
	return nil
}

func (a *addition) conflict(path string, with int) error {
	for other, i := range a.paths {
		if i == with {
			return mongoerr.Errorf(40176, "specification contains two conflicting paths. Cannot specify both '%s' and '%s': %s", path, other, a.whole)
		}
	}
	return nil
}

// fronts are the parts of a path that end before one of its dots.
func fronts(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range len(path) {
			if path[i] == '.' && !yield(path[:i]) {
				return
			}
		}
	}
}
