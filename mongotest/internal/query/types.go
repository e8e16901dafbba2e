package query

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// typeAliases are the names that $type knows.
var typeAliases = map[string]bson.Type{
	"double": bson.TypeDouble, "string": bson.TypeString, "object": bson.TypeEmbeddedDocument, "array": bson.TypeArray,
	"binData": bson.TypeBinary, "undefined": bson.TypeUndefined, "objectId": bson.TypeObjectID, "bool": bson.TypeBoolean,
	"date": bson.TypeDateTime, "null": bson.TypeNull, "regex": bson.TypeRegex, "dbPointer": bson.TypeDBPointer,
	"javascript": bson.TypeJavaScript, "symbol": bson.TypeSymbol, "javascriptWithScope": bson.TypeCodeWithScope,
	"int": bson.TypeInt32, "timestamp": bson.TypeTimestamp, "long": bson.TypeInt64, "decimal": bson.TypeDecimal128,
	"minKey": bson.TypeMinKey, "maxKey": bson.TypeMaxKey,
}

// TypeName returns the server's name of a type.
func TypeName(t bson.Type) string {
	for name, known := range typeAliases {
		if known == t {
			return name
		}
	}
	return "missing"
}

// typeSet is $type.
type typeSet struct {
	types  []bson.Type
	number bool
}

func (s typeSet) test(v Value, _ *Matching) bool {
	if v.Missing() {
		return false
	}
	if s.number && v.IsNumber() {
		return true
	}
	for _, t := range s.types {
		if t == v.Type {
			return true
		}
	}
	return false
}

func (p *filterParser) types(v Value) (condition, error) {
	list := []Value{v}
	if v.IsArray() {
		if list = v.elements(); len(list) == 0 {
			return nil, mongoerr.Errorf(mongoerr.FailedToParse, "%s must match at least one type", p.at)
		}
	}
	var set typeSet
	for _, e := range list {
		if err := set.add(e); err != nil {
			return nil, err
		}
	}
	return &leaf{predicate: set, expand: true}, nil
}

func (s *typeSet) add(v Value) error {
	if v.Type == bson.TypeString {
		name := string(v.Text())
		if name == "number" {
			s.number = true
			return nil
		}
		t, ok := typeAliases[name]
		if !ok {
			return mongoerr.Errorf(mongoerr.BadValue, "Unknown type name alias: %s", name)
		}
		s.types = append(s.types, t)
		return nil
	}
	n, ok := v.Integer()
	if !v.IsNumber() {
		return mongoerr.Errorf(mongoerr.TypeMismatch, "type must be represented as a number or a string")
	}
	if ok && n == 0 {
		return mongoerr.Errorf(mongoerr.BadValue, "Invalid numerical type code: %s. Instead use {$exists:false}.", v)
	}
	if !ok || n < -1 || n > 127 || rank(bson.Type(byte(n))) == 126 {
		return mongoerr.Errorf(mongoerr.BadValue, "Invalid numerical type code: %s", v)
	}
	s.types = append(s.types, bson.Type(byte(n)))
	return nil
}
