package query

import (
	"encoding/binary"
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// AppendKey writes bytes that two values share exactly when Compare finds them equal, for use as a map key.
func AppendKey(dst []byte, v Value) []byte {
	switch r := rank(v.Type); r {
	case 10:
		return appendNumberKey(dst, v)
	case 20, 25:
		dst = append(dst, byte(r))
		it := wire.Elements(v.Data)
		for nextField(&it) {
			if r == 20 {
				dst = append(append(dst, it.Key...), 0)
			}
			dst = AppendKey(dst, Of(it.Element))
		}
		return append(dst, 0xff)
	default:
		dst = append(dst, byte(r))
		dst = append(dst, v.Data...)
	}
	return dst
}

func appendNumberKey(dst []byte, v Value) []byte {
	switch v.Type {
	case bson.TypeDouble:
		f := v.double()
		if f == math.Trunc(f) && f >= -1<<63 && f < 1<<63 {
			return appendIntKey(dst, int64(f))
		}
		return appendDoubleKey(dst, f)
	case bson.TypeDecimal128:
		return appendDecimalKey(dst, v)
	}
	return appendIntKey(dst, v.AsInt64())
}

func appendIntKey(dst []byte, n int64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, 10, 'i'), uint64(n))
}

func appendDoubleKey(dst []byte, f float64) []byte {
	if math.IsNaN(f) {
		f = math.NaN()
	}
	return binary.BigEndian.AppendUint64(append(dst, 10, 'd'), math.Float64bits(f))
}

func appendDecimalKey(dst []byte, v Value) []byte {
	switch v.special() {
	case -2:
		return appendDoubleKey(dst, math.NaN())
	case -1:
		return appendDoubleKey(dst, math.Inf(-1))
	case 1:
		return appendDoubleKey(dst, math.Inf(1))
	}
	r, _ := v.rational()
	if r.IsInt() && r.Num().IsInt64() {
		return appendIntKey(dst, r.Num().Int64())
	}
	if f, exact := r.Float64(); exact {
		return appendDoubleKey(dst, f)
	}
	return append(append(dst, 10, 'D'), r.String()...)
}
