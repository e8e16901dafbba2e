package command

import (
	"math"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// oldOperationID reads the id of an operation as older servers do.
func oldOperationID(op query.Value) ([]int32, error) {
	id, whole := op.Integer()
	switch {
	case op.Missing():
		return nil, mongoerr.Errorf(mongoerr.NoSuchKey, `Missing expected field "op"`)
	case !op.IsNumber():
		return nil, mongoerr.Errorf(mongoerr.TypeMismatch, `Expected field "op" to have numeric type, but found %s`, query.TypeName(op.Type))
	case !whole:
		return nil, mongoerr.Errorf(mongoerr.BadValue, `Expected field "op" to have a value exactly representable as a 64-bit integer, but found op: %s`, op)
	case id < math.MinInt32 || id > math.MaxInt32:
		return nil, mongoerr.Errorf(26823, "invalid op : %d. Op ID cannot be represented with 32 bits", id)
	}
	return []int32{int32(id)}, nil
}
