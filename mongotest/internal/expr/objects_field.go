package expr

import (
	"bytes"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// parseGetField takes {field, input}, or any other expression as the field of the document.
func parseGetField(p *parser, op *operator, v Value) (Expression, error) {
	args := make([]Expression, 2)
	if !v.IsDocument() || isCall(v) {
		field, err := p.expression(v)
		if err != nil {
			return nil, err
		}
		args[0] = field
		if args[1], err = p.path("$$CURRENT"); err != nil {
			return nil, err
		}
		return &call{op: op, args: args}, nil
	}
	for _, f := range query.ObjectOf(v.Data) {
		var err error
		switch f.Name {
		case "field":
			args[0], err = p.expression(f.Value)
		case "input":
			args[1], err = p.expression(f.Value)
		default:
			err = mongoerr.Errorf(3041701, "$getField found an unknown argument: %s", f.Name)
		}
		if err != nil {
			return nil, err
		}
	}
	if args[0] == nil {
		return nil, mongoerr.Errorf(3041702, "$getField requires 'field' to be specified")
	}
	if args[1] == nil {
		return nil, mongoerr.Errorf(3041703, "$getField requires 'input' to be specified")
	}
	return &call{op: op, args: args}, nil
}

func isCall(v Value) bool {
	fields := query.ObjectOf(v.Data)
	return len(fields) == 1 && len(fields[0].Name) > 0 && fields[0].Name[0] == '$'
}

func getField(env *Env, args []Expression) (Value, error) {
	field, err := args[0].Eval(env)
	if err != nil {
		return missing, err
	}
	if !field.IsString() {
		return missing, mongoerr.Errorf(3041704, "$getField requires 'field' to evaluate to type String, but got %s", typeName(field))
	}
	input, err := args[1].Eval(env)
	if err != nil {
		return missing, err
	}
	switch {
	case input.IsDocument():
		return query.Lookup(input.Data, string(field.Text())), nil
	case !input.Missing() && input.IsNullish():
		return null, nil
	}
	return missing, nil
}

// parseSetField is for $setField, and for $unsetField, which has no value.
func parseSetField(names ...string) func(*parser, *operator, Value) (Expression, error) {
	codes := []int32{4161102, 4161109, 4161103}
	return func(p *parser, op *operator, v Value) (Expression, error) {
		if !v.IsDocument() {
			return nil, mongoerr.Errorf(4161100, "%s only supports an object as its argument", op.name)
		}
		args := []Expression{nil, nil, constant{missing}}
		copy(args, make([]Expression, len(names)))
		for _, f := range query.ObjectOf(v.Data) {
			at := slices.Index(names, f.Name)
			if at < 0 {
				return nil, mongoerr.Errorf(4161101, "%s found an unknown argument: %s", op.name, f.Name)
			}
			var err error
			if args[at], err = p.expression(f.Value); err != nil {
				return nil, err
			}
		}
		for _, i := range []int{0, 2, 1} {
			if args[i] == nil {
				return nil, mongoerr.Errorf(codes[i], "%s requires '%s' to be specified", op.name, names[i])
			}
		}
		if err := p.checkSetField(v); err != nil {
			return nil, err
		}
		return &call{op: op, args: args}, nil
	}
}

// checkSetField refuses a field that is no constant string.
func (p *parser) checkSetField(v Value) error {
	field := query.Lookup(v.Data, "field")
	switch {
	case field.IsString():
		if s := string(field.Text()); s != "" && s[0] == '$' {
			if s[min(len(s)-1, 1)] != '$' {
				s = "$CURRENT." + s[1:]
			} else {
				s = s[1:]
			}
			return mongoerr.Errorf(4161108, "'%s' is a field path reference which is not allowed in this context. Did you mean {$literal: '%s'}?", s, s)
		}
	case field.IsDocument() && isCall(field):
		inner := query.ObjectOf(field.Data)[0]
		if inner.Name != "$literal" && inner.Name != "$const" {
			return mongoerr.Errorf(4161106, "$setField requires 'field' to evaluate to a constant, but got a non-constant argument")
		}
		field = inner.Value
	case field.IsDocument() || field.IsArray():
		return mongoerr.Errorf(4161106, "$setField requires 'field' to evaluate to a constant, but got a non-constant argument")
	}
	if !field.IsString() {
		return mongoerr.Errorf(4161107, "$setField requires 'field' to evaluate to type String, but got %s", typeName(field))
	}
	if bytes.IndexByte(field.Text(), 0) >= 0 {
		return mongoerr.Errorf(9534700, "$setField: 'field' cannot contain an embedded null byte")
	}
	return nil
}

func setField(env *Env, args []Expression) (Value, error) {
	name, err := args[0].Eval(env)
	if err != nil {
		return missing, err
	}
	input, err := args[1].Eval(env)
	if err != nil || input.IsNullish() {
		return null, err
	}
	if input.Type != bson.TypeEmbeddedDocument {
		return missing, mongoerr.Errorf(4161105, "$setField requires 'input' to evaluate to type Object")
	}
	v, err := args[2].Eval(env)
	if err != nil {
		return missing, err
	}
	return query.ObjectOf(input.Data).Set(string(name.Text()), v).Made(), nil
}
