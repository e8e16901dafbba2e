package expr

import (
	"errors"
	"math"
	"slices"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// percentile collects numbers; its results are among them. The real server's are too until a group has thousands.
type percentile struct {
	ranks   []float64
	single  bool
	numbers []float64
}

func (c *percentile) add(v Value) error {
	if v.IsNumber() && !math.IsNaN(v.AsFloat64()) {
		c.numbers = append(c.numbers, v.AsFloat64())
	}
	return nil
}

func (c *percentile) result() Value {
	slices.Sort(c.numbers)
	return c.of(len(c.numbers), func(i int) float64 { return c.numbers[i] })
}

// of returns the result for n numbers, of which number returns the i-th in their order.
func (c *percentile) of(n int, number func(i int) float64) Value {
	results := make([]Value, len(c.ranks))
	for i, p := range c.ranks {
		results[i] = null
		if n > 0 {
			at := int(math.Ceil(p*float64(n))) - 1
			results[i] = query.Double(number(max(0, min(at, n-1))))
		}
	}
	if c.single {
		return results[0]
	}
	return array(results)
}

// percentiles reads {input, method} and for $percentile p.
func (p *parser) percentiles(name string, v Value) (Expression, func() collector, error) {
	single := name == "$median"
	names := []string{"input", "method", "p"}
	if single {
		names = names[:2]
	}
	args := make(map[string]Value)
	for _, f := range query.ObjectOf(v.Data) {
		if !has(names, f.Name) {
			return nil, nil, mongoerr.Errorf(40415, "BSON field '%s.%s' is an unknown field.", name, f.Name)
		}
		args[f.Name] = f.Value
	}
	for _, param := range []string{"input", "p", "method"} {
		if has(names, param) && args[param].Missing() {
			return nil, nil, mongoerr.Errorf(40414, "BSON field '%s.%s' is missing but a required field", name, param)
		}
	}
	if !args["method"].IsString() || string(args["method"].Text()) != "approximate" {
		return nil, nil, mongoerr.Errorf(mongoerr.BadValue, "Currently only 'approximate' can be used as a percentile 'method'.")
	}
	ranks := []float64{0.5}
	if !single {
		var err error
		if ranks, err = p.ranks(args["p"]); err != nil {
			return nil, nil, err
		}
	}
	input, err := p.expression(args["input"])
	return input, func() collector { return &percentile{ranks: ranks, single: single} }, err
}

func (p *parser) ranks(v Value) ([]float64, error) {
	e, err := Parse(v, p.scope)
	var refused *mongoerr.Error
	if errors.As(err, &refused) {
		return nil, mongoerr.Errorf(refused.Code, "%s", refused.Message)
	}
	c, ok := e.(constant)
	if !ok {
		return nil, mongoerr.Errorf(7750300, "The $percentile 'p' field must be an array of constant values, but found value: %s.", v)
	}
	if v = c.value; !v.IsArray() || query.Count(v.Data) == 0 {
		return nil, mongoerr.Errorf(7750301, "The $percentile 'p' field must be an array of numbers from [0.0, 1.0], but found: %s", spelled(v))
	}
	var ranks []float64
	for _, e := range query.Elements(v.Data) {
		if !e.IsNumber() {
			return nil, mongoerr.Errorf(7750302, "The $percentile 'p' field must be an array of numbers from [0.0, 1.0], but found: %s", spelled(e))
		}
		f := e.AsFloat64()
		if !(f >= 0 && f <= 1) {
			return nil, mongoerr.Errorf(7750303, "The $percentile 'p' field must be an array of numbers from [0.0, 1.0], but found: %s", spelled(e))
		}
		ranks = append(ranks, f)
	}
	return ranks, nil
}
