package pipeline

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/expr"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
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
	case !s.sorted:
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
	if !c.window.lower.open {
		return c.sliding(r, part)
	}
	m := &moments{pairs: newInputs(r, c.pair, part.docs)}
	next := c.window.folding(r, part, m, m.pairs)
	return func(i int) (Value, error) {
		if err := next(i); err != nil {
			return missing, err
		}
		return m.covariance(c.sample)
	}
}

// moments are the sums that a covariance is made of. They add up as documents come, which is how the real server rounds.
type moments struct {
	pairs                *inputs
	numbers              [][]Value // the pairs of two finite numbers
	odd                  int64     // the other pairs of numbers
	oddSum               expr.RemovableSum
	meanX, meanY, moment float64
	decimal              *decimalMoments // nil if no number is a decimal
}

func (m *moments) reset() { *m = moments{pairs: m.pairs, numbers: m.numbers[:0]} }

func (m *moments) add(j int) error {
	v, err := m.pairs.at(j)
	pair := numbersOf(v)
	if err != nil || pair == nil {
		return err
	}
	if isOdd(pair[0]) || isOdd(pair[1]) {
		m.odd++
		m.oddSum.Add(pair[0], 1)
		m.oddSum.Add(pair[1], 1)
		return nil
	}
	m.numbers = append(m.numbers, pair)
	if m.decimal != nil || pair[0].Type == bson.TypeDecimal128 || pair[1].Type == bson.TypeDecimal128 {
		return m.addDecimals()
	}
	x, y, n := pair[0].AsFloat64(), pair[1].AsFloat64(), float64(len(m.numbers))
	dx := x - m.meanX
	m.meanX += dx / n
	m.meanY += (y - m.meanY) / n
	m.moment += dx * (y - m.meanY)
	return nil
}

// remove is never called: no document leaves a window that is open below.
func (m *moments) remove(int) error { return nil }

// numbersOf returns the two numbers of a pair, nil if it is none.
func numbersOf(v Value) []Value {
	if !v.IsArray() {
		return nil
	}
	pair := query.Elements(v.Data)
	if len(pair) != 2 || !pair[0].IsNumber() || !pair[1].IsNumber() {
		return nil
	}
	return pair
}

// addDecimals adds the pairs that are not in the sums of decimals yet: all, if the last one is the first that has a decimal.
func (m *moments) addDecimals() error {
	if m.decimal == nil {
		m.decimal = &decimalMoments{meanX: query.Int32(0), meanY: query.Int32(0), moment: query.Int32(0)}
	}
	for m.decimal.n < len(m.numbers) {
		m.decimal.add(m.numbers[m.decimal.n])
	}
	return m.decimal.err
}

func (m *moments) covariance(sample bool) (Value, error) {
	n := float64(len(m.numbers))
	if sample {
		n--
	}
	switch {
	case n <= 0:
		return null, nil
	case m.odd > 0 && len(m.numbers) > 1:
		return compute("$add", m.oddSum.Value(), query.Double(m.moment))
	case m.decimal != nil:
		return compute("$divide", m.decimal.moment, query.Double(n))
	}
	return query.Double(m.moment / n), nil
}

// decimalMoments are the same sums with the arithmetic of expressions.
type decimalMoments struct {
	calculation
	n                    int
	meanX, meanY, moment Value
}

func (m *decimalMoments) add(pair []Value) {
	m.n++
	n := query.Int32(int32(m.n))
	dx := m.of("$subtract", pair[0], m.meanX)
	m.meanX = m.of("$add", m.meanX, m.of("$divide", dx, n))
	m.meanY = m.of("$add", m.meanY, m.of("$divide", m.of("$subtract", pair[1], m.meanY), n))
	m.moment = m.of("$add", m.moment, m.of("$multiply", dx, m.of("$subtract", pair[1], m.meanY)))
}

// calculation evaluates operators one after the other up to the first error.
type calculation struct{ err error }

func (c *calculation) of(operator string, args ...Value) (v Value) {
	if c.err == nil {
		v, c.err = compute(operator, args...)
	}
	return v
}
