package once

import (
	"errors"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// encode returns an argument as BSON: a document or, if arrays are permitted, an array.
func encode(name string, v any, arrays bool) (value bson.RawValue, err error) {
	if v == nil {
		return value, fmt.Errorf("once: the %s is nil", name)
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("once: the %s cannot be encoded: its marshaler panicked: %v", name, r)
		}
	}()
	kind, data, err := bson.MarshalValue(v)
	switch {
	case err != nil:
		return value, fmt.Errorf("once: the %s cannot be encoded: %w", name, err)
	case kind == bson.TypeEmbeddedDocument, kind == bson.TypeArray && arrays:
	default:
		return value, fmt.Errorf("once: the %s is of the BSON type %v; it must be a document", name, kind)
	}
	value = bson.RawValue{Type: kind, Value: data}
	if err := value.Validate(); err != nil {
		return value, fmt.Errorf("once: the %s is not valid BSON: %w", name, err)
	}
	return value, nil
}

// argument returns an update as an argument of a client, which takes documents and pipelines but no bson.RawValue.
func argument(v bson.RawValue) any {
	if v.Type != bson.TypeArray {
		return v.Document()
	}
	values, _ := v.Array().Values()
	stages := make(bson.A, len(values))
	for i, stage := range values {
		stages[i] = bson.Raw(stage.Value)
	}
	return stages
}

func elementsOf(document bson.Raw) []bson.RawElement {
	elements, _ := document.Elements() // encode has validated it
	return elements
}

// isBelow reports whether a path is the field, or is in it.
func isBelow(path, field string) bool { return path == field || strings.HasPrefix(path, field+".") }

var errPositional = errors.New("once: the path uses the positional operator $, whose array is chosen by the filter; use arrayFilters")

// fieldsOf returns the elements of a document, to which more can be added.
func fieldsOf(document bson.Raw) bson.D {
	elements := elementsOf(document)
	d := make(bson.D, 0, len(elements)+2)
	for _, e := range elements {
		d = append(d, bson.E{Key: e.Key(), Value: e.Value()})
	}
	return d
}
