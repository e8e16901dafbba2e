package pipeline

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// option is one field of a specification that the real server reads by a schema.
type option struct {
	name     string
	types    []string // nil for any
	required bool
	variant  bool // of several types, so that null is a wrong one
	plain    bool // a boolean, not null, which errors say in words of their own
}

// parseOptions checks a specification's fields: their types and that they are known, in the order written, then that
// those required are there. A null counts as no field, where the field has a type.
func parseOptions(stage string, doc []byte, known []option) (object, error) {
	var fields object
	for _, f := range query.ObjectOf(doc) {
		at := slices.IndexFunc(known, func(o option) bool { return o.name == f.Name })
		if at < 0 {
			return nil, mongoerr.Errorf(mongoerr.UnknownField, "BSON field '%s.%s' is an unknown field.", stage, f.Name)
		}
		if f.Value.Type == bson.TypeNull && known[at].types != nil && !known[at].variant {
			continue
		}
		if err := known[at].check(stage, f.Value); err != nil {
			return nil, err
		}
		fields = append(fields, f)
	}
	for _, o := range known {
		if o.required && fields.Get(o.name).Missing() {
			return nil, mongoerr.Errorf(mongoerr.MissingField, "BSON field '%s.%s' is missing but a required field", stage, o.name)
		}
	}
	return fields, nil
}

func (o option) check(stage string, v Value) error {
	if o.plain && !isBool(v) {
		return mongoerr.Errorf(mongoerr.TypeMismatch, "Field '%s' should be a boolean value, but found: %s", o.name, typeName(v))
	}
	if o.types == nil || slices.Contains(o.types, typeName(v)) {
		return nil
	}
	expected := "type '" + o.types[0] + "'"
	if len(o.types) > 1 {
		expected = "types '[" + strings.Join(o.types, ", ") + "]'"
	}
	return mongoerr.Errorf(mongoerr.TypeMismatch, "BSON field '%s.%s' is the wrong type '%s', expected %s", stage, o.name, typeName(v), expected)
}

var (
	ofString = []string{"string"}
	ofObject = []string{"object"}
	ofArray  = []string{"array"}
)
