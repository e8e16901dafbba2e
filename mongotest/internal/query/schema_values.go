package query

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// The keywords of a schema on types, numbers and strings.

// jsonTypes are the types that "type" knows.
var jsonTypes = []string{"array", "boolean", "null", "number", "object", "string"}

func schemaJSONType(v Value, whole []byte) (rule, error) {
	if !Lookup(whole, "bsonType").Missing() {
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "Cannot specify both $jsonSchema keywords 'type' and 'bsonType'")
	}
	return schemaTypes("type", v, func(name string) (Value, error) {
		switch {
		case name == "integer":
			return Value{}, mongoerr.Errorf(mongoerr.FailedToParse, "$jsonSchema type 'integer' is not currently supported.")
		case name == "boolean":
			name = "bool"
		case !slices.Contains(jsonTypes, name):
			return Value{}, mongoerr.Errorf(mongoerr.BadValue, "Unknown type name alias: %s", name)
		}
		return Text(name), nil
	})
}

func schemaBSONType(v Value, whole []byte) (rule, error) {
	if !Lookup(whole, "type").Missing() {
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "Cannot specify both $jsonSchema keywords 'type' and 'bsonType'")
	}
	return schemaTypes("bsonType", v, func(name string) (Value, error) { return Text(name), nil })
}

func schemaTypes(key string, v Value, alias func(string) (Value, error)) (rule, error) {
	list := []Value{v}
	if v.IsArray() {
		if list = v.elements(); len(list) == 0 {
			return nil, mongoerr.Errorf(mongoerr.FailedToParse, "$jsonSchema keyword '%s' must name at least one type", key)
		}
	}
	var set typeSet
	var known ValueSet
	for _, e := range list {
		switch {
		case e.Type != bson.TypeString && v.IsArray():
			return nil, keyword(key, "array elements must be strings")
		case e.Type != bson.TypeString:
			return nil, keyword(key, "must be either a string or an array of strings")
		case !known.Add(e):
			return nil, mongoerr.Errorf(mongoerr.FailedToParse, "$jsonSchema keyword '%s' has duplicate value: %s", key, e.Text())
		}
		name, err := alias(string(e.Text()))
		if err == nil {
			err = set.add(name)
		}
		if err != nil {
			return nil, err
		}
	}
	return set.test, nil
}

func schemaMinimum(v Value, whole []byte) (rule, error) {
	return schemaLimit("minimum", "exclusiveMinimum", v, whole, order{operand: v})
}

func schemaMaximum(v Value, whole []byte) (rule, error) {
	return schemaLimit("maximum", "exclusiveMaximum", v, whole, order{operand: v, less: true})
}

func schemaLimit(name, exclusive string, v Value, whole []byte, o order) (rule, error) {
	if !v.IsNumber() {
		return nil, keyword(name, "must be a number")
	}
	strict := Lookup(whole, exclusive)
	if !strict.Missing() && strict.Type != bson.TypeBoolean {
		return nil, keyword(exclusive, "must be a boolean")
	}
	o.equal = !Truth(strict)
	return func(v Value, m *Matching) bool { return !v.IsNumber() || o.test(v, m) }, nil
}

// schemaExclusive is exclusiveMinimum and exclusiveMaximum, which the limit that they belong to takes into account.
func schemaExclusive(limit string) func(Value, []byte) (rule, error) {
	return func(_ Value, whole []byte) (rule, error) {
		if Lookup(whole, limit).Missing() {
			return nil, mongoerr.Errorf(mongoerr.FailedToParse, "$jsonSchema keyword '%s' must be a present if exclusive%s is present", limit,
				map[string]string{"minimum": "Minimum", "maximum": "Maximum"}[limit])
		}
		return nil, nil
	}
}

func schemaMultipleOf(v Value, _ []byte) (rule, error) {
	switch {
	case !v.IsNumber():
		return nil, keyword("multipleOf", "must be a number")
	case v.special() == -2:
		return nil, mongoerr.Errorf(mongoerr.BadValue, "divisor cannot be NaN")
	case v.special() > 0:
		return nil, mongoerr.Errorf(mongoerr.BadValue, "divisor cannot be infinite")
	case Compare(v, Int32(0)) <= 0:
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "$jsonSchema keyword 'multipleOf' must have a positive value")
	}
	unit, _ := decimalValue(v.toDecimal()).rational()
	return func(v Value, _ *Matching) bool {
		if !v.IsNumber() {
			return true
		}
		n, finite := decimalValue(v.toDecimal()).rational()
		return finite && n.Quo(n, unit).IsInt()
	}, nil
}

func schemaPattern(v Value, _ []byte) (rule, error) {
	if v.Type != bson.TypeString {
		return nil, keyword("pattern", "must be a string")
	}
	c, err := compileRegex(string(v.Text()), "")
	if err != nil {
		return nil, err
	}
	return func(v Value, m *Matching) bool { return v.Type != bson.TypeString || c.test(v, m) }, nil
}
