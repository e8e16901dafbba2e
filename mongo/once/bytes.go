package once

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/base/panicked"
)

// encode returns an argument as BSON: a document or, if arrays are permitted, an array. It is called once for each argument, so all
// attempts and both steps have the same bytes.
func (c *Collection) encode(name string, v any, arrays bool) (value bson.RawValue, err error) {
	if v == nil {
		return value, fmt.Errorf("once: the %s is nil", name)
	}
	if data, ok := v.([]byte); ok {
		v = bson.Raw(data) // as the clients take it
	}
	defer panicked.Recovered("once: the "+name+" cannot be encoded: its marshaler", &err)
	var buffer bytes.Buffer
	encoder := bson.NewEncoder(bson.NewDocumentWriter(&buffer))
	if c.registry != nil {
		encoder.SetRegistry(c.registry)
	}
	if err := encoder.Encode(bson.D{{Key: "v", Value: v}}); err != nil {
		return value, fmt.Errorf("once: the %s cannot be encoded: %w", name, err)
	}
	outer := bson.Raw(buffer.Bytes())
	if err := outer.Validate(); err != nil {
		return value, fmt.Errorf("once: the %s is not valid BSON: %w", name, err)
	}
	value = outer.Lookup("v")
	if value.Type != bson.TypeEmbeddedDocument && (value.Type != bson.TypeArray || !arrays) {
		return value, fmt.Errorf("once: the %s is of the BSON type %v; it must be a document", name, value.Type)
	}
	return value, nil
}

// encodeAll encodes the array filters of an update.
func (c *Collection) encodeAll(arrayFilters []any) ([]bson.RawValue, error) {
	var encoded []bson.RawValue
	for i, v := range arrayFilters {
		value, err := c.encode(fmt.Sprintf("array filter %d", i), v, false)
		if err != nil {
			return nil, err
		}
		encoded = append(encoded, value)
	}
	return encoded, nil
}

// marshal encodes what this package itself writes, with the types' usual encoding: a client may encode dates and ids otherwise, and a sweep of
// another client would not find the tokens.
func marshal(d bson.D) bson.Raw {
	data, err := bson.Marshal(d)
	if err != nil {
		panic(err) // every value is of a type of the package bson, or is encoded already
	}
	return data
}

// documents returns encoded documents as arguments of a client.
func documents(values []bson.RawValue) []any {
	all := make([]any, len(values))
	for i, v := range values {
		all[i] = v.Document()
	}
	return all
}

func elementsOf(document bson.Raw) []bson.RawElement {
	elements, _ := document.Elements() // encode has validated it
	return elements
}

// isBelow reports whether a path is the field, or is in it.
func isBelow(path, field string) bool { return path == field || strings.HasPrefix(path, field+".") }

var errPositional = errors.New("the path uses the positional operator $, whose array is chosen by the filter; use arrayFilters")

// fieldsOf returns the elements of a document, to which more can be added.
func fieldsOf(document bson.Raw) bson.D {
	elements := elementsOf(document)
	d := make(bson.D, 0, len(elements)+2)
	for _, e := range elements {
		d = append(d, bson.E{Key: e.Key(), Value: e.Value()})
	}
	return d
}
