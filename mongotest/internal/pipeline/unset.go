package pipeline

import (
	"bytes"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/unset/

func parseUnset(p *parser, name string, spec Value) (stage, error) {
	list := []Value{spec}
	switch {
	case spec.IsArray():
		if list = query.Elements(spec.Data); len(list) == 0 {
			return nil, mongoerr.Errorf(31119, "$unset specification must be a string or an array with at least one field")
		}
	case !spec.IsString():
		return nil, mongoerr.Errorf(31002, "$unset specification must be a string or an array")
	}
	var fields object
	for _, v := range list {
		if !v.IsString() {
			return nil, mongoerr.Errorf(31120, "$unset specification must be a string or an array containing only string values")
		}
		if bytes.IndexByte(v.Text(), 0) >= 0 {
			return nil, mongoerr.Errorf(9527900, "illegal embedded NUL byte")
		}
		fields = append(fields, field{Name: string(v.Text()), Value: query.Int32(0)})
	}
	return parseProjection(p, name, fields)
}
