package parameter

import (
	"errors"
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// coerced returns a value as one of the type that the parameter has. What becomes true or false may be of any type.
func (p Parameter) coerced(name string, v query.Value) (query.Value, error) {
	n, err := integral(v)
	switch p.Value.Type {
	case bson.TypeBoolean:
		return truth(query.Truth(v)), nil
	case bson.TypeDouble:
		if !v.IsNumber() {
			return v, mongoerr.Errorf(mongoerr.BadValue, "Failed validating %s: Unable to coerce value to correct type", name)
		}
		return query.Double(v.AsFloat64()), nil
	case bson.TypeInt32:
		if err == nil && n != int64(int32(n)) {
			err = errBounds
		}
	}
	switch {
	case err != nil:
		return v, mongoerr.Errorf(mongoerr.BadValue, "Failed validating %s: %v", name, err)
	case p.Value.Type == bson.TypeInt32:
		return query.Int32(int32(n)), nil
	}
	return query.Int64(n), nil
}

// Why a value is no integer, in the words of the real server.
var (
	errNoNumber = errors.New("Unable to coerce value to integral type")   //nolint:staticcheck // its words
	errNoFinite = errors.New("Unable to coerce NaN/Inf to integral type") //nolint:staticcheck // its words
	errBounds   = errors.New("Out of bounds coercing to integral value")  //nolint:staticcheck // its words
)

// integral returns a number without its fraction, or what a boolean counts as.
func integral(v query.Value) (int64, error) {
	f := v.AsFloat64()
	switch {
	case v.Type == bson.TypeBoolean && v.True():
		return 1, nil
	case v.Type == bson.TypeBoolean:
		return 0, nil
	case !v.IsNumber():
		return 0, errNoNumber
	case v.Type == bson.TypeInt32 || v.Type == bson.TypeInt64:
		return v.AsInt64(), nil
	case math.IsNaN(f) || math.IsInf(f, 0):
		return 0, errNoFinite
	case f < math.MinInt64 || f >= -math.MinInt64:
		return 0, errBounds
	}
	return int64(f), nil
}
