package query

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"math/big"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// rank returns where a type stands in the order of types; types of the same rank are compared by value.
func rank(t bson.Type) int {
	switch t {
	case bson.TypeMinKey:
		return -1
	case 0, bson.TypeUndefined:
		return 1
	case bson.TypeNull:
		return 5
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128:
		return 10
	case bson.TypeString, bson.TypeSymbol:
		return 15
	case bson.TypeEmbeddedDocument:
		return 20
	case bson.TypeArray:
		return 25
	case bson.TypeBinary:
		return 30
	case bson.TypeObjectID:
		return 35
	case bson.TypeBoolean:
		return 40
	case bson.TypeDateTime:
		return 45
	case bson.TypeTimestamp:
		return 47
	case bson.TypeRegex:
		return 50
	case bson.TypeDBPointer:
		return 55
	case bson.TypeJavaScript:
		return 60
	case bson.TypeCodeWithScope:
		return 65
	case bson.TypeMaxKey:
		return 127
	}
	return 126
}

// Compare orders two values as the server does: by type, then by value, numbers across their types.
func Compare(a, b Value) int {
	ra, rb := rank(a.Type), rank(b.Type)
	if ra != rb {
		return cmp.Compare(ra, rb)
	}
	switch ra {
	case 10:
		return compareNumbers(a, b)
	case 20:
		return compareDocuments(a.Data, b.Data, true)
	case 25:
		return compareDocuments(a.Data, b.Data, false)
	case 30:
		return compareBinary(a.Data, b.Data)
	case 45:
		return cmp.Compare(a.int64(), b.int64())
	case 47:
		return cmp.Compare(uint64(a.int64()), uint64(b.int64()))
	case 15, 60:
		return bytes.Compare(stringBytes(a.Data), stringBytes(b.Data))
	}
	return bytes.Compare(a.Data, b.Data)
}

func stringBytes(data []byte) []byte { return data[4 : len(data)-1] }

func compareBinary(a, b []byte) int {
	if c := cmp.Compare(len(a), len(b)); c != 0 {
		return c
	}
	return bytes.Compare(a[4:], b[4:])
}

// compareDocuments compares element by element: type rank, name (not for arrays), value.
func compareDocuments(a, b []byte, names bool) int {
	ia, ib := wire.Elements(a), wire.Elements(b)
	for {
		more, other := nextField(&ia), nextField(&ib)
		if !more || !other {
			return boolCompare(more, other)
		}
		if c := cmp.Compare(rank(ia.Type), rank(ib.Type)); c != 0 {
			return c
		}
		if names {
			if c := bytes.Compare(ia.Key, ib.Key); c != 0 {
				return c
			}
		}
		if c := Compare(Of(ia.Element), Of(ib.Element)); c != 0 {
			return c
		}
	}
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func compareNumbers(a, b Value) int {
	if a.Type == bson.TypeDecimal128 || b.Type == bson.TypeDecimal128 {
		return compareDecimals(a, b)
	}
	if a.Type == bson.TypeDouble {
		if b.Type == bson.TypeDouble {
			return cmp.Compare(a.double(), b.double())
		}
		return -compareIntDouble(b.AsInt64(), a.double())
	}
	if b.Type == bson.TypeDouble {
		return compareIntDouble(a.AsInt64(), b.double())
	}
	return cmp.Compare(a.AsInt64(), b.AsInt64())
}

func compareIntDouble(n int64, f float64) int {
	switch {
	case math.IsNaN(f):
		return 1
	case f >= 1<<63:
		return -1
	case f < -1<<63:
		return 1
	}
	whole := math.Trunc(f)
	if c := cmp.Compare(n, int64(whole)); c != 0 {
		return c
	}
	return cmp.Compare(whole, f)
}

// decimal returns the value as a Decimal128.
func (v Value) decimal() bson.Decimal128 {
	return bson.NewDecimal128(binary.LittleEndian.Uint64(v.Data[8:]), binary.LittleEndian.Uint64(v.Data))
}

// special ranks NaN, the infinities and finite numbers: -2, -1, 1 and 0.
func (v Value) special() int {
	f := 0.0
	switch v.Type {
	case bson.TypeDouble:
		f = v.double()
	case bson.TypeDecimal128:
		d := v.decimal()
		if d.IsNaN() {
			return -2
		}
		return d.IsInf()
	}
	switch {
	case math.IsNaN(f):
		return -2
	case math.IsInf(f, -1):
		return -1
	case math.IsInf(f, 1):
		return 1
	}
	return 0
}

// rational returns a finite number exactly.
func (v Value) rational() (*big.Rat, bool) {
	if v.special() != 0 {
		return nil, false
	}
	r := new(big.Rat)
	switch v.Type {
	case bson.TypeDouble:
		return r.SetFloat64(v.double()), true
	case bson.TypeDecimal128:
		n, exponent, err := v.decimal().BigInt()
		if err != nil {
			return nil, false
		}
		scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(exponent, -exponent))), nil)
		if exponent < 0 {
			return r.SetFrac(n, scale), true
		}
		return r.SetInt(n.Mul(n, scale)), true
	}
	return r.SetInt64(v.AsInt64()), true
}

func compareDecimals(a, b Value) int {
	if sa, sb := a.special(), b.special(); sa != 0 || sb != 0 {
		return cmp.Compare(sa, sb)
	}
	ra, _ := a.rational()
	rb, _ := b.rational()
	return ra.Cmp(rb)
}

// Equal reports whether two values are the same to the server.
func Equal(a, b Value) bool { return Compare(a, b) == 0 }
