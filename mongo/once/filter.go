package once

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// filter is a filter that names one document.
type filter struct {
	document bson.Raw
	name     string        // the field that it fixes
	key      bson.RawValue // the value of that field
	only     bool          // it has no other condition
}

// parseFilter checks that a filter fixes one of the given keys by equality.
func (c *Collection) parseFilter(v any, keys ...string) (*filter, error) {
	encoded, err := c.encode("filter", v, false)
	if err != nil {
		return nil, err
	}
	f := &filter{document: encoded.Document()}
	elements := elementsOf(f.document)
	for _, e := range elements {
		if err := c.checkCondition(e); err != nil {
			return nil, err
		}
		if value, ok := equality(e); ok && f.name == "" && slices.Contains(keys, e.Key()) {
			f.name, f.key = e.Key(), value
		}
	}
	if f.name == "" {
		return nil, fmt.Errorf("%w: the filter must fix %s by equality: a repeated command could change a second document", ErrNotExactlyOnce, oneOf(keys))
	}
	if f.name == "_id" && hasNoOrder(reflect.ValueOf(idOf(v))) {
		return nil, fmt.Errorf("%w: the _id in the filter is a map of several keys, which has another order each time; use a bson.D", ErrNotExactlyOnce)
	}
	f.only = len(elements) == 1
	return f, nil
}

// idOf returns the _id of a filter as the caller gave it, nil if the filter is of a type of the caller's.
func idOf(filter any) any {
	switch f := filter.(type) {
	case bson.M:
		return f["_id"]
	case map[string]any:
		return f["_id"]
	case bson.D:
		for _, e := range f {
			if e.Key == "_id" {
				return e.Value
			}
		}
	}
	return nil
}

// hasNoOrder reports whether a value holds a map of several keys.
func hasNoOrder(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Map:
		return v.Len() > 1 || v.Len() == 1 && hasNoOrder(v.MapIndex(v.MapKeys()[0]))
	case reflect.Slice:
		for i := range v.Len() {
			if hasNoOrder(v.Index(i)) {
				return true
			}
		}
	case reflect.Struct:
		return v.Type() == reflect.TypeFor[bson.E]() && hasNoOrder(v.FieldByName("Value"))
	case reflect.Interface:
		return hasNoOrder(v.Elem())
	}
	return false
}

// checkCondition refuses conditions on the tokens.
func (c *Collection) checkCondition(e bson.RawElement) error {
	if isBelow(e.Key(), c.field) {
		return fmt.Errorf("%w: the filter has a condition on %q, which holds the tokens", ErrNotExactlyOnce, e.Key())
	}
	if branches, ok := e.Value().ArrayOK(); ok && strings.HasPrefix(e.Key(), "$") {
		values, _ := branches.Values()
		for _, branch := range values {
			inner, ok := branch.DocumentOK()
			if !ok {
				continue
			}
			for _, e := range elementsOf(inner) {
				if err := c.checkCondition(e); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// equality returns the value that a field must have by a condition, and reports whether only one document can have it.
func equality(e bson.RawElement) (bson.RawValue, bool) {
	v := e.Value()
	if d, ok := v.DocumentOK(); ok {
		elements := elementsOf(d)
		if len(elements) == 1 && elements[0].Key() == "$eq" {
			v = elements[0].Value()
		}
	}
	return v, isOneValue(v, e.Key() == "_id")
}

// isOneValue reports whether a condition holds for one value only. An array also is one of its elements. Null is one value of _id only: other
// fields may be missing.
func isOneValue(v bson.RawValue, ofID bool) bool {
	switch v.Type {
	case bson.TypeRegex, bson.TypeArray, bson.TypeUndefined:
		return false
	case bson.TypeNull:
		return ofID
	case bson.TypeEmbeddedDocument:
		elements := elementsOf(v.Document())
		return len(elements) == 0 || !strings.HasPrefix(elements[0].Key(), "$")
	}
	return true
}

func oneOf(keys []string) string {
	if len(keys) == 1 {
		return keys[0]
	}
	return strings.Join(keys[:len(keys)-1], ", ") + " or " + keys[len(keys)-1]
}

// and returns the filter with one more condition.
func (f *filter) and(key string, condition any) bson.Raw {
	return marshal(append(fieldsOf(f.document), bson.E{Key: key, Value: condition}))
}

// checkUpsert refuses a condition that a document with the key may not meet: then the upsert would insert another one.
func (f *filter) checkUpsert() error {
	if !f.only {
		return fmt.Errorf("%w: the filter of an upsert has a condition besides %s", ErrNotExactlyOnce, f.name)
	}
	return nil
}
