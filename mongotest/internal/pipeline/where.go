package pipeline

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/expr"
	"github.com/holdfast-db/holdfast/mongotest/internal/javascript"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/operator/query/where/

// where compiles the code of a $where. The filter's variables are an *expr.Env.
func where(v Value) (query.Expr, error) {
	if v.Type == bson.TypeCodeWithScope {
		return nil, mongoerr.Errorf(4649201, "$where no longer supports deprecated BSON type CodeWScope")
	}
	if v.Type != bson.TypeString && v.Type != bson.TypeJavaScript {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "$where got bad type")
	}
	code := string(Value{Type: bson.TypeString, Data: v.Data}.Text())
	if err := javascript.Check(code); err != nil {
		return nil, err
	}
	return func(doc []byte, vars any) (Value, error) {
		f, err := vars.(*expr.Env).Engine().Function(code)
		if err != nil {
			return missing, err
		}
		ok, err := f.Matches(doc)
		truth := byte(0)
		if ok {
			truth = 1
		}
		return Value{Type: bson.TypeBoolean, Data: []byte{truth}}, err
	}, nil
}
