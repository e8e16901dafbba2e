package pipeline

import (
	"math"

	"github.com/holdfast-db/holdfast/mongotest/internal/expr"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// calculus is what $derivative and $integral have in common.
type calculus struct {
	input  expr.Expression
	unit   string
	window window
}

// checkCalculus checks the order of a function over it, before anything else.
func (s *windowStage) checkCalculus(name string) error {
	switch {
	case name != "$derivative" && name != "$integral" || len(s.keys) == 1:
		return nil
	case !s.sorted:
		return mongoerr.Errorf(mongoerr.FailedToParse, "%s requires a sortBy", name)
	}
	return mongoerr.Errorf(mongoerr.FailedToParse, "%s requires a non-compound sortBy", name)
}

func (s *windowStage) parseCalculus(p *parser, f field, w window) (*calculus, error) {
	if !f.Value.IsDocument() {
		return nil, mongoerr.Errorf(mongoerr.FailedToParse,
			"%s expects an object, but got a %s: %s", f.Name, typeName(f.Value), written(f.Name, f.Value))
	}
	c := &calculus{window: w}
	for _, arg := range query.ObjectOf(f.Value.Data) {
		var err error
		switch arg.Name {
		case "input":
			c.input, err = p.expression(arg.Value)
		case "unit":
			if !arg.Value.IsString() {
				return nil, mongoerr.Errorf(mongoerr.FailedToParse, "unit' must be a string, but got %s", typeName(arg.Value))
			}
			c.unit = string(arg.Value.Text())
			if err = checkUnit(c.unit); err == nil && unitLength(c.unit) == 0 {
				err = mongoerr.Errorf(5490710, "unit must be 'week' or smaller")
			}
		default:
			err = mongoerr.Errorf(mongoerr.FailedToParse, "%s got unexpected argument: %s", f.Name, arg.Name)
		}
		if err != nil {
			return nil, err
		}
	}
	if c.input == nil {
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "%s requires an 'input' expression", f.Name)
	}
	return c, nil
}

// perUnit divides a distance of dates by the unit's length, or multiplies by it.
func (c *calculus) perUnit(operator string, v Value) (Value, error) {
	if c.unit == "" {
		return v, nil
	}
	return compute(operator, v, query.Int64(unitLength(c.unit)))
}

type derivative struct{ *calculus }

func parseDerivative(s *windowStage, p *parser, f field, w window) (windowFunction, error) {
	c, err := s.parseCalculus(p, f, w)
	if err == nil && !w.given {
		err = mongoerr.Errorf(mongoerr.FailedToParse, "$derivative requires explicit window bounds")
	}
	return derivative{c}, err
}

func (d derivative) begin(r *runner, part *partition) windowValues {
	in := newInputs(r, d.input, part.docs)
	return func(i int) (Value, error) {
		first, end, err := d.window.span(part, i)
		if err != nil || first == end {
			return null, err
		}
		last := end - 1
		for _, j := range []int{first, last} {
			if err := d.checkKey(part.keyOf(j)); err != nil {
				return missing, err
			}
		}
		for _, j := range []int{first, last} {
			if v, err := in.at(j); err != nil {
				return missing, err
			} else if v.IsNullish() {
				return missing, mongoerr.Errorf(5624903, "$derivative input must not be null or missing")
			}
		}
		slope, err := part.slope(in.values, first, last)
		if err != nil || slope.IsNullish() {
			return null, err
		}
		return d.perUnit("$multiply", slope)
	}
}

func (d derivative) checkKey(key Value) error {
	switch {
	case d.unit != "" && !isDate(key):
		return mongoerr.Errorf(5624900, "$derivative with 'unit' expects the sortBy field to be a Date")
	case d.unit == "" && isDate(key):
		return mongoerr.Errorf(5624901, "$derivative where the sortBy is a Date requires an 'unit'")
	case d.unit == "" && !key.IsNumber():
		return mongoerr.Errorf(5624902, "$derivative (with no 'unit') expects the sortBy field to be numeric")
	}
	return nil
}

type integral struct{ *calculus }

func parseIntegral(s *windowStage, p *parser, f field, w window) (windowFunction, error) {
	c, err := s.parseCalculus(p, f, w)
	return integral{c}, err
}

func (g integral) begin(r *runner, part *partition) windowValues {
	a := &area{integral: g, part: part, in: newInputs(r, g.input, part.docs)}
	next := g.window.folding(r, part, a, a.in)
	return func(i int) (Value, error) {
		if err := next(i); err != nil || a.n == 0 {
			return null, err
		}
		return g.perUnit("$divide", a.area())
	}
}

// area adds the trapezoids between neighbours.
type area struct {
	integral
	part *partition
	in   *inputs
	n    int // documents in the window
	nans int // those of which a number is NaN
	sum  expr.RemovableSum
}

func (a *area) reset() { a.n, a.nans, a.sum = 0, 0, expr.RemovableSum{} }

func (a *area) check(j int) error {
	v, err := a.in.at(j)
	if err == nil {
		err = a.integral.check(a.part.keyOf(j), v)
	}
	return err
}

func (a *area) add(j int) error {
	if err := a.check(j); err != nil {
		return err
	}
	if a.isNaN(j) {
		a.nans++
	}
	if a.n++; a.n == 1 {
		return nil
	}
	return a.count(j-1, 1)
}

func (a *area) remove(j int) error {
	if a.isNaN(j) {
		a.nans--
	}
	if a.n--; a.n == 0 {
		return nil
	}
	return a.count(j, -1)
}

// isNaN reports whether a document makes every area NaN.
func (a *area) isNaN(j int) bool {
	return math.IsNaN(a.in.values[j].AsFloat64()) || a.part.keyOf(j).IsNumber() && math.IsNaN(a.part.keyOf(j).AsFloat64())
}

// count takes the trapezoid between a document and the next one.
func (a *area) count(j int, times int64) error {
	if a.isNaN(j) || a.isNaN(j+1) {
		return nil
	}
	v, err := trapezoid(a.part.keyOf(j), a.part.keyOf(j+1), a.in.values[j], a.in.values[j+1])
	if err == nil {
		a.sum.Add(v, times)
	}
	return err
}

// area returns the sum, NaN if a document makes it so.
func (a *area) area() Value {
	if a.nans > 0 {
		return query.Double(math.NaN())
	}
	return a.sum.Value()
}

func (g integral) check(key, v Value) error {
	switch {
	case !v.IsNumber() || !key.IsNumber() && !isDate(key):
		return mongoerr.Errorf(5423900, "The input value of $integral window function must be a vector of 2 value, the first value must be numeric "+
			"or date type and the second must be numeric.")
	case g.unit != "" && !isDate(key):
		return mongoerr.Errorf(5423901, "$integral with 'unit' expects the sortBy field to be a Date")
	case g.unit == "" && isDate(key):
		return mongoerr.Errorf(5423902, "$integral (with no 'unit') expects the sortBy field to be numeric")
	}
	return nil
}

func trapezoid(x0, x1, y0, y1 Value) (Value, error) {
	width, err := compute("$subtract", x1, x0)
	if err != nil {
		return missing, err
	}
	heights, err := compute("$add", y0, y1)
	if err != nil {
		return missing, err
	}
	if width, err = compute("$multiply", width, heights); err != nil {
		return missing, err
	}
	return compute("$divide", width, query.Double(2))
}
