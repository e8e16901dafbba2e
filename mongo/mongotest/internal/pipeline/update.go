package pipeline

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/expr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// updateSteps compiles the stages of an update, in which only few may be.
func (p *parser) updateSteps(names []string, stages Value) ([]step, error) {
	inner := p.within(names)
	inner.update = true
	stages = lastOfEach(stages)
	if err := inner.survey(stages); err != nil {
		return nil, err
	}
	return inner.steps(stages)
}

// Let is the variables that a command defines for its filter, its update and its projection.
type Let struct{ variables letVariables }

// ParseLet compiles a command's let; nil for none.
func ParseLet(doc []byte) (*Let, error) {
	let, err := newParser(Options{}).let(doc)
	return &Let{let}, err
}

// Vars returns the variables' values for one command: what filters and updates that use Hooks need beside the document.
func (l *Let) Vars(c Context) (any, error) {
	values, err := l.variables.values(c.runner(nil), emptyDocument)
	if err != nil {
		return nil, err
	}
	return c.runner(values).env, nil
}

// Hooks returns what lets filters use $expr and updates be pipelines.
func (l *Let) Hooks() query.Hooks {
	p := newParser(Options{}).within(l.variables.names)
	h := hooks(p.scope)
	h.Pipeline = func(stages Value) (query.Pipeline, error) { return ParseUpdate(stages, l) }
	return h
}

// ParseUpdate compiles an update that is an array of stages.
func ParseUpdate(stages Value, l *Let) (query.Pipeline, error) {
	if stages.Type != bson.TypeArray {
		return nil, fail(typeMismatch, "A pipeline must be an array of objects")
	}
	p := newParser(Options{})
	steps, err := p.updateSteps(l.variables.names, stages)
	if err == nil {
		err = *p.failing
	}
	if err != nil {
		return nil, err
	}
	return func(doc []byte, vars any) ([]byte, error) {
		out, err := one(&runner{env: vars.(*expr.Env)}, steps, doc)
		if err != nil {
			return nil, err
		}
		return withID(out, query.Lookup(doc, "_id")), nil
	}, nil
}

// withID puts the _id that a document had in front, if it has none now.
func withID(doc []byte, id Value) []byte {
	if id.Missing() || !query.Lookup(doc, "_id").Missing() {
		return doc
	}
	return append(object{{"_id", id}}, fieldsOf(doc)...).bytes()
}
