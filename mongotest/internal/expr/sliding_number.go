package expr

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/decimal"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// RemovableSum is a sum that numbers of any types are added to and removed from. A number that is removed is added with the other sign,
// so that the sum shows what was rounded. The zero RemovableSum is empty.
type RemovableSum struct {
	finite                  sum
	numbers                 int64
	doubles, decimals, nans int64
	up, down                int64 // infinities
}

// Add takes a number once more (1) or once less (-1).
func (s *RemovableSum) Add(v Value, times int64) {
	f := v.AsFloat64()
	s.numbers += times
	switch v.Type {
	case bson.TypeDouble:
		s.doubles += times
	case bson.TypeDecimal128:
		s.decimals += times
	}
	switch {
	case v.Type == bson.TypeDecimal128:
		s.addDecimal(decimal.Of(v), times)
	case s.odd(f, times):
	case v.Type == bson.TypeInt64 && (times > 0 || v.AsInt64() > math.MinInt64):
		s.finite.exact.addLong(v.AsInt64() * times)
	default:
		s.finite.exact.add(f * float64(times))
	}
}

// odd counts a number that is not finite.
func (s *RemovableSum) odd(f float64, times int64) bool {
	switch {
	case math.IsNaN(f):
		s.nans += times
	case math.IsInf(f, 1):
		s.up += times
	case math.IsInf(f, -1):
		s.down += times
	default:
		return false
	}
	return true
}

func (s *RemovableSum) addDecimal(d decimal.Number, times int64) {
	switch {
	case d.Form == decimal.NotANumber:
		s.nans += times
	case d.Form == decimal.Infinite && d.Neg:
		s.down += times
	case d.Form == decimal.Infinite:
		s.up += times
	default:
		d.Neg = d.Neg != (times < 0)
		s.finite.addDecimal(d)
	}
}

// Value returns the sum: an int where it fits, if no number is a double or a decimal.
func (s *RemovableSum) Value() Value {
	if s.nans > 0 || s.up > 0 || s.down > 0 {
		return s.oddValue()
	}
	switch {
	case s.decimals > 0:
		return s.finite.asDecimal().Value()
	case s.finite.decimal.Coef != nil && s.doubles > 0:
		return query.Double(s.finite.asDecimal().Float())
	case s.finite.decimal.Coef != nil:
		n, _ := s.finite.asDecimal().Value().Rounded()
		return integerValue(n, false)
	case s.doubles > 0:
		return query.Double(s.finite.exact.sum)
	}
	n, ok := s.finite.exact.long()
	if f := s.finite.exact.sum; !ok && f == math.MinInt64 { // a sum that is a little less, too, has been rounded to a double, and that is a long
		n, ok = math.MinInt64, true
	}
	if !ok {
		return query.Double(s.finite.exact.sum)
	}
	return integerValue(n, false)
}

func (s *RemovableSum) oddValue() Value {
	f := math.Inf(1)
	switch {
	case s.nans > 0 || s.up > 0 && s.down > 0:
		f = math.NaN()
	case s.down > 0:
		f = math.Inf(-1)
	}
	if s.decimals > 0 {
		return decimal.FromFloat(f).Value()
	}
	return query.Double(f)
}

// slidingSum is $sum and, if mean is set, $avg.
type slidingSum struct {
	mean bool
	sum  RemovableSum
}

func (s *slidingSum) add(v Value) error {
	if v.IsNumber() {
		s.sum.Add(v, 1)
	}
	return nil
}

func (s *slidingSum) remove(v Value) {
	if v.IsNumber() {
		s.sum.Add(v, -1)
	}
}

func (s *slidingSum) result() Value {
	v := s.sum.Value()
	switch {
	case !s.mean && s.sum.numbers == 0:
		return query.Int32(0)
	case !s.mean:
		return v
	case s.sum.numbers == 0:
		return null
	case v.Type == bson.TypeDecimal128:
		return decimal.Of(v).Divide(decimal.Int(s.sum.numbers)).Value()
	}
	return query.Double(v.AsFloat64() / float64(s.sum.numbers))
}

// slidingDeviation is the standard deviation: of the numbers x in the window it has their count n, their sum s, and the sum of the
// squares of their distances from the mean, which one more or one less changes by (n*x-s)^2 / (n*(n+1)) or (n*x-s)^2 / (n*(n-1)).
type slidingDeviation struct {
	sample       bool
	count, odd   int64
	sum, squares exactSum
}

func (d *slidingDeviation) add(v Value) error {
	d.update(v, 1)
	return nil
}

func (d *slidingDeviation) remove(v Value) { d.update(v, -1) }

func (d *slidingDeviation) update(v Value, times int64) {
	f := v.AsFloat64()
	switch {
	case !v.IsNumber():
		return
	case math.IsNaN(f) || math.IsInf(f, 0):
		d.odd += times
		return
	case d.count+times == 0:
		*d = slidingDeviation{sample: d.sample} // as if no number were in that is not finite
		return
	case d.count > 0:
		x := float64(d.count)*f - d.sum.sum
		d.squares.add(x * x * float64(times) / float64(d.count*(d.count+times)))
	}
	d.count += times
	d.sum.add(f * float64(times))
}

func (d *slidingDeviation) result() Value {
	n := d.count
	if d.sample {
		n--
	}
	switch {
	case d.odd > 0 || n <= 0:
		return null
	case d.squares.sum < 0 || d.count == 1:
		d.squares = exactSum{}
		return query.Int32(0)
	}
	return query.Double(math.Sqrt(d.squares.sum / float64(n)))
}
