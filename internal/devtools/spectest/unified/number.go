package unified

import (
	"cmp"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// compareNumbers orders two numbers of any type but Decimal128; false if one is not a number or not ordered.
func compareNumbers(a, b bson.RawValue) (int, bool) {
	if x, ok := integer(a); ok {
		if y, ok := integer(b); ok {
			return cmp.Compare(x, y), true
		}
	}
	x, okX := float(a)
	y, okY := float(b)
	if !okX || !okY || x != x || y != y {
		return 0, false
	}
	return cmp.Compare(x, y), true
}

func integer(v bson.RawValue) (int64, bool) {
	if n, ok := v.Int32OK(); ok {
		return int64(n), true
	}
	return v.Int64OK()
}

// wholeNumber also takes a float that is an integer.
func wholeNumber(v bson.RawValue) (int64, bool) {
	if n, ok := integer(v); ok {
		return n, true
	}
	f, ok := v.DoubleOK()
	return int64(f), ok && f == float64(int64(f))
}

func float(v bson.RawValue) (float64, bool) {
	if n, ok := integer(v); ok {
		return float64(n), true
	}
	return v.DoubleOK()
}
