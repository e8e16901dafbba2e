package expr

import (
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// parseOrder reads the order of $sortArray.
func parseOrder(v Value) (*query.ElementSort, error) {
	order, err := query.ParseElementSort(v)
	var refused *mongoerr.Error
	switch {
	case !errors.As(err, &refused):
		return order, err
	case v.IsDocument():
		return nil, mongoerr.Errorf(2942505, "BadValue: %s", refused.Message)
	case v.IsNumber():
		return nil, mongoerr.Errorf(2942506, "%s", refused.Message)
	}
	return nil, mongoerr.Errorf(2942507, "%s", refused.Message)
}

// sortArray is $sortArray: its order is no expression.
type sortArray struct {
	input Expression
	order *query.ElementSort
}

func parseSortArray(p *parser, _ *operator, v Value) (Expression, error) {
	if !v.IsDocument() {
		return nil, mongoerr.Errorf(2942500, "$sortArray requires an object as an argument, found: %s", typeName(v))
	}
	s := &sortArray{}
	var sortBy Value
	for _, f := range query.ObjectOf(v.Data) {
		var err error
		switch f.Name {
		case "input":
			s.input, err = p.expression(f.Value)
		case "sortBy":
			sortBy = f.Value
		default:
			err = mongoerr.Errorf(2942501, "$sortArray found an unknown argument: %s", f.Name)
		}
		if err != nil {
			return nil, err
		}
	}
	if s.input == nil {
		return nil, mongoerr.Errorf(2942502, "$sortArray requires 'input' to be specified")
	}
	if sortBy.Missing() {
		return nil, mongoerr.Errorf(2942503, "$sortArray requires 'sortBy' to be specified")
	}
	var err error
	if s.order, err = parseOrder(sortBy); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *sortArray) Eval(env *Env) (Value, error) {
	v, err := s.input.Eval(env)
	if err != nil {
		return missing, err
	}
	if v.IsNullish() {
		return null, nil
	}
	if v.Type != bson.TypeArray {
		return missing, mongoerr.Errorf(2942504, "The input argument to $sortArray must be an array, but was of type: %s", typeName(v))
	}
	elements := query.Elements(v.Data)
	if err := s.order.Collated(env.Collation).Sort(env.Work, elements); err != nil {
		return missing, err
	}
	return env.pay(array(elements))
}

func (s *sortArray) optimized(o *optimizer) (_ Expression, err error) {
	s.input, err = o.expression(s.input)
	return s, err
}
