package query

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// bit is $bit: some operations in their order.
type bit []bitOperation

type bitOperation struct {
	name    string
	operand Value
}

func parseBit(_ string, v Value) (operator, error) {
	if !v.IsDocument() {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "The $bit modifier is not compatible with a %s. You must pass in an embedded document: "+
			"{$bit: {field: {and/or/xor: #}}", TypeName(v.Type))
	}
	var b bit
	it := wire.Elements(v.Data)
	for it.Next() {
		operand, name := Of(it.Element), string(it.Key)
		switch name {
		case "and", "or", "xor":
		default:
			return nil, mongoerr.Errorf(mongoerr.BadValue, "The $bit modifier only supports 'and', 'or', and 'xor', not '%s' which is an unknown "+
				"operator: {%s: %s}", name, name, operand)
		}
		if operand.Type != bson.TypeInt32 && operand.Type != bson.TypeInt64 {
			return nil, mongoerr.Errorf(mongoerr.BadValue, "The $bit modifier field must be an Integer(32/64 bit); a '%s' is not supported here: "+
				"{%s: %s}", TypeName(operand.Type), name, operand)
		}
		b = append(b, bitOperation{name, operand})
	}
	if len(b) == 0 {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "You must pass in at least one bitwise operation. The format is: "+
			"{$bit: {field: {and/or/xor: #}}")
	}
	return b, it.Err
}

func (b bit) apply(old Value, env *Env) (Value, error) {
	if old.Missing() {
		old = Int32(0)
	}
	if old.Type != bson.TypeInt32 && old.Type != bson.TypeInt64 {
		return old, mongoerr.Errorf(mongoerr.BadValue, "Cannot apply $bit to a value of non-integral type.%s has the field %s of non-integer type %s",
			invalidID(env), env.field(), TypeName(old.Type))
	}
	for _, o := range b {
		old = o.on(old)
	}
	return old, nil
}

// invalidID is what the real server writes of the document, which has no _id yet where it is being upserted.
func invalidID(env *Env) string {
	if Lookup(env.original, "_id").Missing() {
		return "INVALID-MUTABLE-ELEMENT"
	}
	return bareID(env)
}

func (o bitOperation) on(v Value) Value {
	n, m := v.AsInt64(), o.operand.AsInt64()
	switch o.name {
	case "and":
		n &= m
	case "or":
		n |= m
	case "xor":
		n ^= m
	}
	if v.Type == bson.TypeInt32 && o.operand.Type == bson.TypeInt32 {
		return Int32(int32(n))
	}
	return Int64(n)
}
