package pipeline

import (
	"math"

	"github.com/holdfast-db/holdfast/mongotest/internal/expr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// slidingMoments are the sums that a covariance is made of where documents leave the window again.
type slidingMoments struct {
	calculation
	pairs              *inputs
	n, odd             int64 // pairs of finite numbers, and others
	sumX, sumY, moment expr.RemovableSum
	oddSum             expr.RemovableSum // of the numbers of the pairs that are not of finite ones
}

func (c *covariance) sliding(r *runner, part *partition) windowValues {
	m := &slidingMoments{pairs: newInputs(r, c.pair, part.docs)}
	next := c.window.folding(r, part, m, m.pairs)
	return func(i int) (Value, error) {
		if err := next(i); err != nil {
			return missing, err
		}
		return m.covariance(c.sample)
	}
}

func (m *slidingMoments) reset() { *m = slidingMoments{pairs: m.pairs} }

func (m *slidingMoments) add(j int) error {
	v, err := m.pairs.at(j)
	if err != nil {
		return err
	}
	return m.count(numbersOf(v), 1)
}

func (m *slidingMoments) remove(j int) error { return m.count(numbersOf(m.pairs.values[j]), -1) }

// count takes a pair once more or once less. The moment changes by the product of the distances from the mean of the one without
// the pair and the mean of the other with it.
func (m *slidingMoments) count(pair []Value, times int64) error {
	switch {
	case pair == nil:
		return nil
	case isOdd(pair[0]) || isOdd(pair[1]):
		m.odd += times
		m.oddSum.Add(pair[0], times)
		m.oddSum.Add(pair[1], times)
		return nil
	case m.n+times == 0:
		*m = slidingMoments{pairs: m.pairs}
		return nil
	}
	x, y := m.of("$subtract", pair[0], m.mean(&m.sumX)), m.of("$subtract", pair[1], m.mean(&m.sumY))
	m.n += times
	m.sumX.Add(pair[0], times)
	m.sumY.Add(pair[1], times)
	if times > 0 {
		y = m.of("$subtract", pair[1], m.mean(&m.sumY))
	} else {
		x = m.of("$subtract", pair[0], m.mean(&m.sumX))
	}
	if change := m.of("$multiply", x, y); m.err == nil {
		m.moment.Add(change, times)
	}
	return m.err
}

func isOdd(v Value) bool {
	f := v.AsFloat64()
	return math.IsNaN(f) || math.IsInf(f, 0)
}

func (m *slidingMoments) mean(sum *expr.RemovableSum) Value {
	if m.n == 0 {
		return query.Int32(0)
	}
	return m.of("$divide", sum.Value(), query.Int64(m.n))
}

func (m *slidingMoments) covariance(sample bool) (Value, error) {
	n := float64(m.n)
	if sample {
		n--
	}
	switch {
	case n <= 0:
		return null, nil
	case m.n == 1:
		return query.Double(0), nil
	case m.odd > 0:
		return compute("$add", m.oddSum.Value(), m.moment.Value())
	}
	return compute("$divide", m.moment.Value(), query.Double(n))
}
