package pipeline

import (
	"math"
	"math/bits"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// series are the numbers that boundaries are rounded to, times powers of ten: the Renard series of ISO 3, of which R80 has but
// those that R40 has not, the 1-2-5 series, and the E series of IEC 60063.
var series = map[string][]float64{
	"R5":  {10, 16, 25, 40, 63},
	"R10": {100, 125, 160, 200, 250, 315, 400, 500, 630, 800},
	"R20": {
		100, 112, 125, 140, 160, 180, 200, 224, 250, 280, 315, 355, 400, 450, 500, 560, 630, 710, 800, 900,
	},
	"R40": {
		100, 106, 112, 118, 125, 132, 140, 150, 160, 170, 180, 190, 200, 212, 224, 236, 250, 265, 280, 300, 315, 355, 375,
		400, 425, 450, 475, 500, 530, 560, 600, 630, 670, 710, 750, 800, 850, 900, 950,
	},
	"R80": {
		103, 109, 115, 122, 128, 136, 145, 155, 165, 175, 185, 195, 206, 218, 230, 243, 258, 272, 290, 307, 325, 345, 365,
		387, 412, 437, 462, 487, 515, 545, 575, 615, 650, 690, 730, 775, 825, 875, 925, 975,
	},
	"1-2-5": {10, 20, 50},
	"E6":    {10, 15, 22, 33, 47, 68},
	"E12":   {10, 12, 15, 18, 22, 27, 33, 39, 47, 56, 68, 82},
	"E24": {
		10, 11, 12, 13, 15, 16, 18, 20, 22, 24, 27, 30, 33, 36, 39, 43, 47, 51, 56, 62, 68, 75, 82, 91,
	},
	"E48": {
		100, 105, 110, 115, 121, 127, 133, 140, 147, 154, 162, 169, 178, 187, 196, 205, 215, 226, 237, 249, 261, 274, 287,
		301, 316, 332, 348, 365, 383, 402, 422, 442, 464, 487, 511, 536, 562, 590, 619, 649, 681, 715, 750, 787, 825, 866,
		909, 953,
	},
	"E96": {
		100, 102, 105, 107, 110, 113, 115, 118, 121, 124, 127, 130, 133, 137, 140, 143, 147, 150, 154, 158, 162, 165, 169,
		174, 178, 182, 187, 191, 196, 200, 205, 210, 215, 221, 226, 232, 237, 243, 249, 255, 261, 267, 274, 280, 287, 294,
		301, 309, 316, 324, 332, 340, 348, 357, 365, 374, 383, 392, 402, 412, 422, 432, 442, 453, 464, 475, 487, 499, 511,
		523, 536, 549, 562, 576, 590, 604, 619, 634, 649, 665, 681, 698, 715, 732, 750, 768, 787, 806, 825, 845, 866, 887,
		909, 931, 953, 976,
	},
	"E192": {
		100, 101, 102, 104, 105, 106, 107, 109, 110, 111, 113, 114, 115, 117, 118, 120, 121, 123, 124, 126, 127, 129, 130,
		132, 133, 135, 137, 138, 140, 142, 143, 145, 147, 149, 150, 152, 154, 156, 158, 160, 162, 164, 165, 167, 169, 172,
		174, 176, 178, 180, 182, 184, 187, 189, 191, 193, 196, 198, 200, 203, 205, 208, 210, 213, 215, 218, 221, 223, 226,
		229, 232, 234, 237, 240, 243, 246, 249, 252, 255, 258, 261, 264, 267, 271, 274, 277, 280, 284, 287, 291, 294, 298,
		301, 305, 309, 312, 316, 320, 324, 328, 332, 336, 340, 344, 348, 352, 357, 361, 365, 370, 374, 379, 383, 388, 392,
		397, 402, 407, 412, 417, 422, 427, 432, 437, 442, 448, 453, 459, 464, 470, 475, 481, 487, 493, 499, 505, 511, 517,
		523, 530, 536, 542, 549, 556, 562, 569, 576, 583, 590, 597, 604, 612, 619, 626, 634, 642, 649, 657, 665, 673, 681,
		690, 698, 706, 715, 723, 732, 741, 750, 759, 768, 777, 787, 796, 806, 816, 825, 835, 845, 856, 866, 876, 887, 898,
		909, 920, 931, 942, 953, 965, 976, 988,
	},
}

// granularity rounds the boundaries of buckets to the numbers of a series, without one to powers of two.
type granularity struct{ series []float64 }

func parseGranularity(v Value) (*granularity, error) {
	if !v.IsString() {
		return nil, mongoerr.Errorf(40261, "The $bucketAuto 'granularity' field must be a string, but found type: %s", typeName(v))
	}
	name := string(v.Text())
	g := &granularity{series[name]}
	if g.series == nil && name != "POWERSOF2" {
		return nil, mongoerr.Errorf(40257, "Unknown rounding granularity '%s'", name)
	}
	return g, nil
}

// limits rounds the boundaries of a bucket outwards; it has all that is below the upper one. Zeros go up to where the next
// number begins.
func (g *granularity) limits(rest []keyed, n int, end Value) (l limits, size int, err error) {
	if l.min = end; end.Missing() {
		if l.min, err = g.down(rest[0].key); err != nil {
			return l, 0, err
		}
	}
	if l.max, err = g.up(rest[n-1].key); err != nil {
		return l, 0, err
	}
	zeros := query.Equal(l.max, query.Int32(0))
	for n < len(rest) && (query.Compare(rest[n].key, l.max) < 0 || zeros && query.Equal(rest[n].key, l.max)) {
		n++
	}
	if zeros && n < len(rest) {
		l.max, err = g.down(rest[n].key)
	}
	return l, n, err
}

// check refuses what cannot be rounded.
func (g *granularity) check(v Value) error {
	const only = "$bucketAuto can specify a 'granularity' with "
	if !v.IsNumber() {
		return mongoerr.Errorf(40258, only+"numeric boundaries only, but found a value with type: %s", typeName(v))
	}
	switch f := v.AsFloat64(); {
	case math.IsNaN(f):
		return mongoerr.Errorf(40259, only+"numeric boundaries only, but found a NaN")
	case f < 0:
		return mongoerr.Errorf(40260, only+"non-negative numbers only, but found a negative number")
	case g.series == nil && (math.IsInf(f, 1) || f == 0 && !query.Equal(v, query.Int32(0))):
		return mongoerr.Errorf(11785400, "A granularity rounder can only round finite numbers")
	}
	return nil
}

// up returns the least number of the series that is greater, down the greatest that is less. Zero and infinity stay.
func (g *granularity) up(v Value) (Value, error)   { return g.round(v, true) }
func (g *granularity) down(v Value) (Value, error) { return g.round(v, false) }

func (g *granularity) round(v Value, up bool) (Value, error) {
	if err := g.check(v); err != nil {
		return v, err
	}
	switch {
	case query.Equal(v, query.Int32(0)) || math.IsInf(v.AsFloat64(), 1):
		return v, nil
	case g.series == nil:
		return powerOfTwo(v, up), nil
	case v.Type != bson.TypeDecimal128:
		v = query.Double(v.AsFloat64())
	}
	if up {
		return g.above(v), nil
	}
	return g.below(v), nil
}

// above looks for a power of ten with which the series reaches over a number, and for the least one there that is greater.
func (g *granularity) above(v Value) Value {
	first, last := g.series[0], g.series[len(g.series)-1]
	by := unit(v)
	for query.Compare(v, scaled(last, by)) >= 0 {
		by = tenfold(by)
	}
	for query.Compare(v, scaled(first, by)) < 0 {
		least := scaled(first, by)
		if by = tenth(by); query.Compare(v, scaled(last, by)) >= 0 {
			return least
		}
	}
	at := slices.IndexFunc(g.series, func(n float64) bool { return query.Compare(v, scaled(n, by)) < 0 })
	return scaled(g.series[at], by)
}

// below is above for the greatest that is less.
func (g *granularity) below(v Value) Value {
	first, last := g.series[0], g.series[len(g.series)-1]
	by := unit(v)
	for query.Compare(v, scaled(first, by)) <= 0 {
		by = tenth(by)
	}
	for query.Compare(v, scaled(last, by)) > 0 {
		most := scaled(last, by)
		if query.Equal(most, query.Int32(0)) {
			return most // there is no power of ten that small
		}
		if by = tenfold(by); query.Compare(v, scaled(first, by)) <= 0 {
			return most
		}
	}
	at := slices.IndexFunc(g.series, func(n float64) bool { return query.Compare(v, scaled(n, by)) <= 0 })
	if at < 0 {
		at = len(g.series)
	}
	return scaled(g.series[at-1], by)
}

// unit is 1 of the type of a number, a decimal or a double.
func unit(v Value) Value {
	if v.Type == bson.TypeDecimal128 {
		return exactly("$toDecimal", query.Int32(1))
	}
	return query.Double(1)
}

func scaled(n float64, by Value) Value {
	if by.Type == bson.TypeDecimal128 {
		return exactly("$multiply", query.Double(n), by)
	}
	return query.Double(n * by.AsFloat64())
}

func tenfold(by Value) Value {
	if by.Type == bson.TypeDecimal128 {
		return exactly("$multiply", by, query.Int32(10))
	}
	return query.Double(by.AsFloat64() * 10)
}

func tenth(by Value) Value {
	if by.Type == bson.TypeDecimal128 {
		return exactly("$divide", by, query.Int32(10))
	}
	return query.Double(by.AsFloat64() / 10)
}

// exactly is compute of what cannot fail.
func exactly(operator string, args ...Value) Value {
	v, err := compute(operator, args...)
	if err != nil {
		panic(err)
	}
	return v
}

// powerOfTwo returns the least power of two that is greater, or the greatest that is less.
func powerOfTwo(v Value, up bool) Value {
	over, isPower := binaryDigits(v)
	switch {
	case !up && isPower:
		over -= 2
	case !up:
		over--
	}
	switch {
	case v.Type == bson.TypeDecimal128:
		return exactly("$pow", exactly("$toDecimal", query.Int32(2)), query.Int32(int32(over)))
	case over < 0 || over > 62:
		return query.Double(math.Ldexp(1, over))
	case over > 30:
		return query.Int64(1 << over)
	}
	return query.Int32(1 << over)
}

// binaryDigits returns the exponent of the least power of two that is greater than a number, and whether it is one itself.
func binaryDigits(v Value) (over int, isPower bool) {
	if v.Type == bson.TypeInt32 || v.Type == bson.TypeInt64 {
		n, _ := v.Integer()
		return bits.Len64(uint64(n)), n&(n-1) == 0
	}
	fraction, over := math.Frexp(v.AsFloat64())
	return over, fraction == 0.5
}
