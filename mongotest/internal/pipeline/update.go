package pipeline

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// updateSteps compiles the stages of an update, which survey has seen, and in which only few may be.
func (p *parser) updateSteps(names []string, stages Value) ([]step, error) {
	inner := p.within(names)
	inner.update = true
	return inner.steps(stages)
}

// ParseUpdate compiles an update that is an array of stages; the collation is nil if strings are compared by their bytes.
func ParseUpdate(stages Value, l *Let, c query.Collation) (query.Pipeline, error) {
	if stages.Type != bson.TypeArray {
		return nil, mongoerr.Errorf(mongoerr.TypeMismatch, "A pipeline must be an array of objects")
	}
	p := newParser(Options{Collation: c, Version: l.version})
	stages = lastOfEach(stages)
	if err := p.survey(stages); err != nil {
		return nil, err
	}
	steps, err := p.updateSteps(l.variables.names, stages)
	if err != nil {
		return nil, err
	}
	return func(doc []byte, vars any) ([]byte, error) {
		return one(Context{Collation: c}.with(vars), steps, doc)
	}, nil
}
