package query

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// bits is $bitsAllSet, $bitsAllClear, $bitsAnySet or $bitsAnyClear.
type bits struct {
	positions []int
	set, any  bool
}

func (b bits) test(v Value, _ *Matching) bool {
	if v.Type == bson.TypeBinary {
		return b.holds(func(at int) bool { return binaryBit(v.Data[5:], at) })
	}
	n, ok := v.Integer()
	if !ok || !v.IsNumber() {
		return false
	}
	return b.holds(func(at int) bool { return n>>at&1 == 1 }) // the sign goes on for ever
}

func (b bits) holds(bit func(at int) bool) bool {
	for _, at := range b.positions {
		if (bit(at) == b.set) == b.any {
			return b.any
		}
	}
	return !b.any
}

func binaryBit(data []byte, at int) bool { return at/8 < len(data) && data[at/8]>>(at%8)&1 == 1 }

func (p *filterParser) bits(key string, v Value) (condition, error) {
	b := bits{set: key == "$bitsAllSet" || key == "$bitsAnySet", any: key == "$bitsAnySet" || key == "$bitsAnyClear"}
	var err error
	switch {
	case v.IsArray():
		b.positions, err = bitPositions(v)
	case v.Type == bson.TypeBinary:
		b.positions = maskPositions(8*(len(v.Data)-5), func(at int) bool { return binaryBit(v.Data[5:], at) })
	case v.IsNumber():
		mask, refused := WholeNumber(key, v)
		if refused != "" {
			return nil, mongoerr.Errorf(mongoerr.FailedToParse, "%s", refused)
		}
		b.positions = maskPositions(63, func(at int) bool { return mask>>at&1 == 1 })
	default:
		return nil, mongoerr.Errorf(mongoerr.BadValue, "%s takes an Array, a number, or a BinData but received: %s: %s", p.at, key, v)
	}
	return &leaf{predicate: b, expand: true}, err
}

func maskPositions(n int, bit func(at int) bool) []int {
	var positions []int
	for at := range n {
		if bit(at) {
			positions = append(positions, at)
		}
	}
	return positions
}

func bitPositions(v Value) ([]int, error) {
	var positions []int
	for i, e := range v.elements() {
		key := wire.ArrayKey(i)
		n, refused := WholeNumber(key, e)
		switch {
		case refused != "":
			return nil, mongoerr.Errorf(mongoerr.BadValue, "Failed to parse bit position. %s", refused)
		case n > math.MaxInt32:
			return nil, mongoerr.Errorf(mongoerr.BadValue, "Failed to parse bit position. Cannot represent %s: %s in an int", key, e)
		}
		positions = append(positions, int(n))
	}
	return positions, nil
}
