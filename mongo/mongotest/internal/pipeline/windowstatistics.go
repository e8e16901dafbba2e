package pipeline

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/expr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// movingAverage is $expMovingAvg. It is computed in decimals, as in the real server.
type movingAverage struct {
	input expr.Expression
	alpha Value
}

func parseMovingAverage(s *windowStage, p *parser, f field, w window) (windowFunction, error) {
	fields := query.ObjectOf(orEmpty(f.Value))
	n, alpha := fields.Get("N"), fields.Get("alpha")
	switch {
	case !f.Value.IsDocument() || w.given:
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "$expMovingAvg must have exactly one argument that is an object")
	case len(fields) != 2 || fields.Get("input").Missing() || n.Missing() == alpha.Missing():
		return nil, mongoerr.Errorf(mongoerr.FailedToParse,
			"$expMovingAvg sub object must have exactly two fields: An 'input' field, and either an 'N' field or "+
				"an 'alpha' field")
	case s.order == nil:
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "$expMovingAvg requires an explicit 'sortBy'")
	}
	m := &movingAverage{}
	if err := m.parseWeight(n, alpha); err != nil {
		return nil, err
	}
	var err error
	m.input, err = p.expression(fields.Get("input"))
	return m, err
}

func (m *movingAverage) parseWeight(n, alpha Value) (err error) {
	if alpha.Missing() {
		whole, ok := n.Integer()
		if !n.IsNumber() {
			return mongoerr.Errorf(mongoerr.FailedToParse, "'N' field must be an integer, but found type %s", typeName(n))
		}
		if !ok {
			return mongoerr.Errorf(mongoerr.FailedToParse,
				"'N' field must be an integer, but found  %s. To use a non-integer, use the 'alpha' argument instead", written("N", n))
		}
		if whole <= 0 {
			return mongoerr.Errorf(mongoerr.FailedToParse, "'N' must be greater than zero. Got %d", whole)
		}
		if alpha, err = compute("$toDecimal", query.Int64(whole+1)); err != nil {
			return err
		}
		m.alpha, err = compute("$divide", query.Int32(2), alpha)
		return err
	}
	if !alpha.IsNumber() {
		return mongoerr.Errorf(mongoerr.FailedToParse, "'alpha' must be a number")
	}
	if f := alpha.AsFloat64(); f <= 0 || f >= 1 {
		return mongoerr.Errorf(mongoerr.FailedToParse, "'alpha' must be between 0 and 1 (exclusive), found alpha: %s", spelled(alpha))
	}
	m.alpha, err = compute("$toDecimal", alpha)
	return err
}

func (m *movingAverage) begin(r *runner, part *partition) windowValues {
	average, decimal := null, false
	return func(i int) (Value, error) {
		v, err := r.eval(m.input, part.docs[i])
		if err != nil {
			return missing, err
		}
		if v.IsNumber() {
			decimal = decimal || v.Type == bson.TypeDecimal128
			if average, err = m.next(average, v); err != nil {
				return missing, err
			}
		}
		if !decimal && average.IsNumber() {
			return compute("$toDouble", average)
		}
		return average, nil
	}
}

// next moves the average towards one more value.
func (m *movingAverage) next(average, v Value) (Value, error) {
	if !average.IsNumber() {
		return compute("$toDecimal", v)
	}
	gain, err := compute("$multiply", v, m.alpha)
	if err != nil {
		return missing, err
	}
	rest, err := compute("$subtract", query.Int32(1), m.alpha)
	if err != nil {
		return missing, err
	}
	if rest, err = compute("$multiply", average, rest); err != nil {
		return missing, err
	}
	return compute("$add", gain, rest)
}

// covariance is $covariancePop and $covarianceSamp, of pairs: a value that is no array of two numbers does not count.
type covariance struct {
	pair   expr.Expression
	sample bool
	window window
}

func parseCovariance(_ *windowStage, p *parser, f field, w window) (windowFunction, error) {
	pair, err := p.expression(f.Value)
	return &covariance{pair: pair, sample: f.Name == "$covarianceSamp", window: w}, err
}

func (c *covariance) begin(r *runner, part *partition) windowValues {
	pairs := newInputs(r, c.pair, part.docs)
	each := func(j int) error {
		_, err := pairs.at(j)
		return err
	}
	return func(i int) (Value, error) {
		first, end, err := c.window.evaluate(part, i, each)
		if err != nil {
			return missing, err
		}
		return c.of(pairs.values[first:end])
	}
}

// of adds up as documents come, which is how the real server rounds.
func (c *covariance) of(pairs []Value) (Value, error) {
	var numbers [][]Value
	decimals := false
	for _, v := range pairs {
		if !v.IsArray() {
			continue
		}
		pair := query.Elements(v.Data)
		if len(pair) != 2 || !pair[0].IsNumber() || !pair[1].IsNumber() {
			continue
		}
		numbers = append(numbers, pair)
		decimals = decimals || pair[0].Type == bson.TypeDecimal128 || pair[1].Type == bson.TypeDecimal128
	}
	n := float64(len(numbers))
	if c.sample {
		n--
	}
	switch {
	case n <= 0:
		return null, nil
	case decimals:
		moment, err := decimalMoment(numbers)
		if err != nil {
			return missing, err
		}
		return compute("$divide", moment, query.Double(n))
	}
	return query.Double(moment(numbers) / n), nil
}

// moment returns the sum of the products of the distances of pairs from their means.
func moment(pairs [][]Value) float64 {
	meanX, meanY, sum := 0.0, 0.0, 0.0
	for i, pair := range pairs {
		x, y, n := pair[0].AsFloat64(), pair[1].AsFloat64(), float64(i+1)
		dx := x - meanX
		meanX += dx / n
		meanY += (y - meanY) / n
		sum += dx * (y - meanY)
	}
	return sum
}

// decimalMoment is the same with the arithmetic of expressions, for pairs of which some are decimals.
func decimalMoment(pairs [][]Value) (Value, error) {
	var m calculation
	meanX, meanY, sum := query.Int32(0), query.Int32(0), query.Int32(0)
	for i, pair := range pairs {
		n := query.Int32(int32(i + 1))
		dx := m.of("$subtract", pair[0], meanX)
		meanX = m.of("$add", meanX, m.of("$divide", dx, n))
		meanY = m.of("$add", meanY, m.of("$divide", m.of("$subtract", pair[1], meanY), n))
		sum = m.of("$add", sum, m.of("$multiply", dx, m.of("$subtract", pair[1], meanY)))
	}
	return sum, m.err
}

// calculation evaluates operators one after the other up to the first error.
type calculation struct{ err error }

func (c *calculation) of(operator string, args ...Value) (v Value) {
	if c.err == nil {
		v, c.err = compute(operator, args...)
	}
	return v
}
