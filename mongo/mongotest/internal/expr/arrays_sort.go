package expr

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// order is a sort order of values: by whole value, or by fields where they are documents.
type order struct {
	sign   int
	fields *query.Sort
}

func (o order) compare(a, b Value) int {
	if o.fields == nil {
		return o.sign * query.Compare(a, b)
	}
	return o.fields.Compare(documentOf(a), documentOf(b))
}

var emptyDocument = []byte{5, 0, 0, 0, 0}

func documentOf(v Value) []byte {
	if v.IsDocument() {
		return v.Data
	}
	return emptyDocument
}

// parseOrder reads the order of $sortArray.
func parseOrder(v Value) (order, error) {
	invalid := fail(2942507, "The $sort is invalid: use 1/-1 to sort the whole element, or {field:1/-1} to sort embedded fields")
	switch {
	case v.IsNumber():
		n, ok := v.Integer()
		if !ok || n != 1 && n != -1 {
			return order{}, fail(2942506, "The $sort element value must be either 1 or -1")
		}
		return order{sign: int(n)}, nil
	case !v.IsDocument():
		return order{}, invalid
	}
	return parseFieldOrder(v.Data)
}

func parseFieldOrder(doc []byte) (order, error) {
	fields := fieldsOf(doc)
	if len(fields) == 0 {
		return order{}, fail(2942505, "BadValue: The sort pattern is empty when it should be a set of fields.")
	}
	for _, f := range fields {
		n, ok := f.value.Integer()
		if !f.value.IsNumber() || !ok || n != 1 && n != -1 {
			return order{}, fail(2942505, "BadValue: The sort element value must be either 1 or -1")
		}
	}
	s, err := query.ParseSort(doc)
	return order{fields: s}, err
}

// sortArray is $sortArray: its order is no expression.
type sortArray struct {
	input Expression
	order order
}

func parseSortArray(p *parser, _ *operator, v Value) (Expression, error) {
	if !v.IsDocument() {
		return nil, fail(2942500, "$sortArray requires an object as an argument, found: %s", typeName(v))
	}
	s := &sortArray{}
	var sortBy Value
	for _, f := range fieldsOf(v.Data) {
		var err error
		switch f.name {
		case "input":
			s.input, err = p.expression(f.value)
		case "sortBy":
			sortBy = f.value
		default:
			err = fail(2942501, "$sortArray found an unknown argument: %s", f.name)
		}
		if err != nil {
			return nil, err
		}
	}
	if s.input == nil {
		return nil, fail(2942502, "$sortArray requires 'input' to be specified")
	}
	if sortBy.Missing() {
		return nil, fail(2942503, "$sortArray requires 'sortBy' to be specified")
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
	if nullish(v) {
		return null, nil
	}
	if v.Type != bson.TypeArray {
		return missing, fail(2942504, "The input argument to $sortArray must be an array, but was of type: %s", typeName(v))
	}
	elements := query.Elements(v.Data)
	slices.SortStableFunc(elements, s.order.compare)
	return env.pay(array(elements))
}

func (s *sortArray) optimized(o *optimizer) (_ Expression, err error) {
	s.input, err = o.expression(s.input)
	return s, err
}
