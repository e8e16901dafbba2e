package expr

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/decimal"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// sum is $sum and, if mean is set, $avg: of numbers of any types, where other values are skipped. The type is the widest
// that it saw.
type sum struct {
	mean    bool
	count   int64
	widest  bson.Type
	exact   exactSum
	decimal decimal.Number
}

var width = map[bson.Type]int{bson.TypeInt32: 1, bson.TypeInt64: 2, bson.TypeDouble: 3, bson.TypeDecimal128: 4}

func (s *sum) add(v Value) error {
	if !v.IsNumber() {
		return nil
	}
	s.count++
	if width[v.Type] > width[s.widest] {
		s.widest = v.Type
	}
	switch v.Type {
	case bson.TypeDouble:
		s.exact.add(v.AsFloat64())
	case bson.TypeDecimal128:
		s.addDecimal(decimal.Of(v))
	case bson.TypeInt64:
		s.exact.addLong(v.AsInt64())
	default:
		s.exact.add(v.AsFloat64())
	}
	return nil
}

func (s *sum) addDecimal(d decimal.Number) {
	if s.decimal.Coef == nil && s.decimal.Form == decimal.Finite {
		s.decimal.Coef = decimal.BigZero
	}
	s.decimal = s.decimal.Add(d)
}

// asDecimal returns the sum as a decimal.
func (s *sum) asDecimal() decimal.Number {
	if s.decimal.Coef == nil && s.decimal.Form == decimal.Finite {
		s.decimal.Coef = decimal.BigZero
	}
	return s.decimal.Add(s.exact.decimal())
}

func (s *sum) result() Value {
	switch {
	case s.mean && s.count == 0:
		return null
	case s.widest == bson.TypeDecimal128 && s.mean:
		return s.asDecimal().Divide(decimal.Int(s.count)).Value()
	case s.widest == bson.TypeDecimal128:
		return s.asDecimal().Value()
	case s.mean:
		return query.Double(s.exact.sum / float64(s.count))
	case s.widest == bson.TypeDouble:
		return query.Double(s.exact.sum)
	}
	n, ok := s.exact.long()
	if !ok {
		return query.Double(s.exact.sum)
	}
	return integerValue(n, s.widest == bson.TypeInt64)
}

// deviation is the standard deviation by Welford's method.
type deviation struct {
	sample   bool
	count    float64
	mean, m2 float64
}

func (d *deviation) add(v Value) error {
	if !v.IsNumber() {
		return nil
	}
	d.count++
	f := v.AsFloat64()
	delta := f - d.mean
	d.mean += delta / d.count
	d.m2 += delta * (f - d.mean)
	return nil
}

func (d *deviation) result() Value {
	n := d.count
	if d.sample {
		n--
	}
	if n <= 0 {
		return null
	}
	return query.Double(math.Sqrt(d.m2 / n))
}
