package pipeline

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/expr"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/minMaxScaler/

// scaler is $minMaxScaler: where a number lies between the least and the greatest of its window, as a number between two
// others.
type scaler struct {
	input    expr.Expression
	min, max Value
	window   window
}

func parseScaler(_ *windowStage, p *parser, f field, w window) (windowFunction, error) {
	if !f.Value.IsDocument() {
		return nil, mongoerr.Errorf(mongoerr.TypeMismatch,
			"BSON field 'root.%s' is the wrong type '%s', expected type 'object'", f.Name, typeName(f.Value))
	}
	s := &scaler{min: query.Int32(0), max: query.Int32(1), window: w}
	given := query.ObjectOf(f.Value.Data)
	for _, arg := range given {
		var err error
		switch arg.Name {
		case "input":
			s.input, err = p.expression(arg.Value)
		case "min", "max":
		default:
			err = mongoerr.Errorf(40415, "BSON field 'root.%s.%s' is an unknown field.", f.Name, arg.Name)
		}
		if err != nil {
			return nil, err
		}
	}
	if s.input == nil {
		return nil, mongoerr.Errorf(40414, "BSON field 'root.%s.input' is missing but a required field", f.Name)
	}
	if err := s.parseRange(p, given.Get("min"), given.Get("max")); err != nil {
		return nil, err
	}
	return s, s.window.containsCurrent(f.Name)
}

func (s *scaler) parseRange(p *parser, least, most Value) (err error) {
	switch {
	case least.Missing() && most.Missing():
		return nil
	case least.Missing() || most.Missing():
		return mongoerr.Errorf(mongoerr.FailedToParse,
			"Only one of 'min' and 'max' were specified as an argument to $minMaxScaler. Neither or both must be specified")
	}
	if s.min, err = scaleLimit(p, "min", least); err != nil {
		return err
	}
	if s.max, err = scaleLimit(p, "max", most); err == nil && query.Compare(s.min, s.max) >= 0 {
		err = mongoerr.Errorf(mongoerr.FailedToParse, "the 'max' must be strictly greater than 'min', as arguments to $minMaxScaler")
	}
	return err
}

func scaleLimit(p *parser, name string, v Value) (Value, error) {
	limit, err := p.constant(v)
	switch {
	case err != nil:
	case !isConstant(v):
		err = mongoerr.Errorf(mongoerr.FailedToParse, "'%s' argument to $minMaxScaler must be a constant", name)
	case !limit.IsNumber():
		err = mongoerr.Errorf(mongoerr.FailedToParse, "'%s' argument to $minMaxScaler must be a numeric type", name)
	}
	return limit, err
}

// containsCurrent refuses a window that its own document is not in.
func (w *window) containsCurrent(function string) error {
	const always = "as %s must ensure that the current document being processed is always within the configured window."
	if by := orZero(w.lower.by).AsFloat64(); by > 0 {
		return mongoerr.Errorf(mongoerr.FailedToParse, "Lower specified bound cannot be greater than 0 (the current doc), "+always+
			" Lower specified bound = %f", function, by)
	}
	if by := orZero(w.upper.by).AsFloat64(); by < 0 {
		return mongoerr.Errorf(mongoerr.FailedToParse, "Upper specified bound cannot be less than 0 (the current doc), "+always+
			" Upper specified bound = %f", function, by)
	}
	return nil
}

func orZero(v Value) Value {
	if v.Missing() {
		return query.Int32(0)
	}
	return v
}

func (s *scaler) begin(r *runner, part *partition) windowValues {
	e := &extremes{scaler: s, all: newInputs(r, s.input, part.docs)}
	next := s.window.folding(r, part, e, e.all)
	return func(i int) (Value, error) {
		if err := next(i); err != nil {
			return missing, err
		}
		v, err := e.all.at(i)
		if err != nil {
			return missing, err
		}
		least, err := e.least.Result(r.Work)
		if err != nil {
			return missing, err
		}
		most, err := e.most.Result(r.Work)
		if err != nil {
			return missing, err
		}
		return s.scaled(v, least, most)
	}
}

// extremes are the least and the greatest of a window.
type extremes struct {
	*scaler
	all         *inputs
	n           int // documents in the window
	least, most *expr.Sliding
}

func (e *extremes) reset() { e.n, e.least, e.most = 0, expr.Least(), expr.Greatest() }

func (e *extremes) add(j int) error {
	v, err := e.all.at(j)
	switch {
	case err != nil:
		return err
	case !v.IsNumber() && e.window.lower.open:
		return mongoerr.Errorf(10487001, "'input' argument to $minMaxScaler must evaluate to a numeric type, got: %s", typeName(v))
	case v.Missing() && e.n > 0:
		return mongoerr.Errorf(10487000, "'input' argument to $minMaxScaler must evaluate to a numeric type, got: %s", typeName(v))
	case !v.IsNumber():
		return mongoerr.Errorf(9522903, "min_max_scaler::MinAndMax must be provided with numeric Value types upon construction")
	}
	e.n++
	if err := e.least.Add(v); err != nil {
		return err
	}
	return e.most.Add(v)
}

func (e *extremes) remove(j int) error {
	e.n--
	e.least.Remove(e.all.values[j])
	e.most.Remove(e.all.values[j])
	return nil
}

// scaled is (v-least)/(most-least)*(max-min)+min; the min where there is nothing between least and most.
func (s *scaler) scaled(v, least, most Value) (Value, error) {
	if query.Equal(least, most) {
		return s.min, nil
	}
	var err error
	step := func(operator string, a, b Value) Value {
		var result Value
		if err == nil {
			result, err = compute(operator, a, b)
		}
		return result
	}
	share := step("$divide", step("$subtract", v, least), step("$subtract", most, least))
	result := step("$add", step("$multiply", share, step("$subtract", s.max, s.min)), s.min)
	return result, err
}
