package expr

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// zipper is $zip.
type zipper struct {
	inputs   []Expression
	defaults Expression // nil for none
	longest  bool
}

func parseZip(p *parser, _ *operator, v Value) (Expression, error) {
	if !v.IsDocument() {
		return nil, mongoerr.Errorf(34460, "$zip only supports an object as an argument, found %s", typeName(v))
	}
	longest := no
	var inputs []Expression
	var defaults Expression
	for _, f := range query.ObjectOf(v.Data) {
		var err error
		switch f.Name {
		case "inputs":
			if !f.Value.IsArray() {
				return nil, mongoerr.Errorf(34461, "inputs must be an array of expressions, found %s", typeName(f.Value))
			}
			inputs, err = p.expressions(query.Elements(f.Value.Data))
		case "defaults":
			defaults, err = p.defaults(f.Value)
		case "useLongestLength":
			if longest = f.Value; longest.Type != bson.TypeBoolean {
				return nil, mongoerr.Errorf(34463, "useLongestLength must be a bool, found object")
			}
		default:
			err = mongoerr.Errorf(34464, "$zip found an unknown argument: %s", f.Name)
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case len(inputs) == 0:
		return nil, mongoerr.Errorf(34465, "$zip requires at least one input array")
	case !truth(longest) && defaults != nil:
		return nil, mongoerr.Errorf(34466, "cannot specify defaults unless useLongestLength is true")
	}
	if l, ok := defaults.(list); ok && len(l) != len(inputs) {
		return nil, mongoerr.Errorf(34467, "defaults and inputs must have the same length")
	}
	return &zipper{inputs, defaults, truth(longest)}, nil
}

// defaults parses the defaults of $zip; an empty array is like none.
func (p *parser) defaults(v Value) (Expression, error) {
	if v.IsArray() && query.Count(v.Data) == 0 {
		return nil, nil
	}
	return p.expression(v)
}

func (z *zipper) optimized(o *optimizer) (_ Expression, err error) {
	if err = o.all(z.inputs); err == nil && z.defaults != nil {
		z.defaults, err = o.expression(z.defaults)
	}
	return z, err
}

func (z *zipper) Eval(env *Env) (Value, error) {
	var columns [][]Value
	isNull := false
	err := eachArg(env, z.inputs, func(v Value) (bool, error) {
		if isNull = v.IsNullish(); isNull {
			return true, nil
		}
		if !v.IsArray() {
			return false, mongoerr.Errorf(34468, "$zip found a non-array expression in input: %s", spelled(v))
		}
		columns = append(columns, query.Elements(v.Data))
		return false, nil
	})
	if err != nil {
		return missing, err
	}
	if isNull {
		return null, nil
	}
	return z.rows(env, columns)
}

func (z *zipper) rows(env *Env, columns [][]Value) (Value, error) {
	count := len(columns[0])
	for _, column := range columns {
		if n := len(column); z.longest == (n > count) {
			count = n
		}
	}
	var defaults []Value
	if z.longest && slices.ContainsFunc(columns, func(column []Value) bool { return len(column) < count }) {
		var err error
		if defaults, err = z.defaultValues(env); err != nil {
			return missing, err
		}
	}
	rows := make([]Value, count)
	for r := range rows {
		row := make([]Value, len(columns))
		for c, column := range columns {
			switch {
			case r < len(column):
				row[c] = column[r]
			case c < len(defaults):
				row[c] = defaults[c]
			}
		}
		rows[r] = array(row)
	}
	return env.pay(array(rows))
}

// defaultValues evaluates the defaults, which only arrays of different lengths need.
func (z *zipper) defaultValues(env *Env) ([]Value, error) {
	if z.defaults == nil {
		return nil, nil
	}
	v, err := z.defaults.Eval(env)
	if err != nil || v.IsNullish() {
		return nil, err
	}
	if !v.IsArray() {
		return nil, mongoerr.Errorf(10961500, "$zip defaults must resolve to an array, but the expression evaluated to %s", spelled(v))
	}
	values := query.Elements(v.Data)
	if len(values) != len(z.inputs) {
		return nil, mongoerr.Errorf(10961501, "defaults and inputs must have the same length")
	}
	return values, nil
}
