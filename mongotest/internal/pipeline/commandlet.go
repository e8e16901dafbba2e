package pipeline

import (
	"slices"

	"github.com/holdfast-db/holdfast/mongotest/internal/expr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

// Let is the variables that a command defines for its filter, its update and its projection.
type Let struct {
	variables letVariables
	version   version.Version // of the server; zero: the newest
}

// ParseLet compiles a command's let; nil for none. Each expression sees the variables before it, and no document.
func ParseLet(doc []byte, v version.Version) (*Let, error) {
	l := &Let{version: v}
	p := newParser(Options{Version: v})
	for _, f := range query.ObjectOf(doc) {
		if err := p.checkVariable(f.Name); err != nil {
			return nil, because("Invalid 'let' parameter", err)
		}
		e, err := expr.ParseFree(f.Value, l.scope())
		if err != nil {
			return nil, err
		}
		l.add(f.Name, e)
	}
	return l, nil
}

// With returns the variables with more of them, which are values as they stand: the constants of an update.
func (l *Let) With(constants []byte) *Let {
	all := &Let{letVariables{slices.Clone(l.variables.names), slices.Clone(l.variables.expressions)}, l.version}
	for _, f := range query.ObjectOf(constants) {
		all.add(f.Name, &fixed{f.Value})
	}
	return all
}

func (l *Let) add(name string, e expr.Expression) {
	l.variables.names = append(l.variables.names, name)
	l.variables.expressions = append(l.variables.expressions, e)
}

func (l *Let) scope() *expr.Scope { return expr.NewScope(l.variables.names...).At(l.version) }

// Vars returns the variables' values for one command: what filters and updates that use Hooks need beside the document.
func (l *Let) Vars(c Context) (any, error) {
	r := c.runner(nil)
	for i, e := range l.variables.expressions {
		v, err := r.eval(e, query.EmptyDocument)
		if err != nil {
			return nil, err
		}
		r.env.Vars = append(r.env.Vars[:i], v)
	}
	return r.env, nil
}

// Hooks returns what lets filters use $expr and updates be pipelines.
func (l *Let) Hooks() query.Hooks {
	h := hooks(l.scope())
	h.Refused, h.Where, h.Searches = nil, where, query.Searches{Near: true, Text: true}
	h.Pipeline = func(stages Value, c query.Collation) (query.Pipeline, error) { return ParseUpdate(stages, l, c) }
	return h
}
