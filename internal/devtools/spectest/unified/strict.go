package unified

import (
	"fmt"
	"reflect"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// decode reads a document of a test file into a struct. A key that the struct does not have is an error: what this runner
// does not know must not pass unseen.
func decode(doc bson.Raw, to any) error {
	if err := onlyKnownKeys(doc, reflect.TypeOf(to).Elem()); err != nil {
		return err
	}
	return bson.Unmarshal(doc, to)
}

func onlyKnownKeys(doc bson.Raw, t reflect.Type) error {
	elements, err := doc.Elements()
	if err != nil {
		return err
	}
	for _, e := range elements {
		field, ok := fieldNamed(t, e.Key())
		if !ok {
			return fmt.Errorf("%q is not supported by this runner", e.Key())
		}
		if err := knownKeysOf(e.Value(), field); err != nil {
			return fmt.Errorf("%s: %w", e.Key(), err)
		}
	}
	return nil
}

// knownKeysOf goes down into the structs of a field.
func knownKeysOf(v bson.RawValue, t reflect.Type) error {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	doc, isDocument := v.DocumentOK()
	array, isArray := v.ArrayOK()
	switch {
	case t == reflect.TypeFor[bson.RawValue]():
		return nil
	case t.Kind() == reflect.Struct && isDocument:
		return onlyKnownKeys(doc, t)
	case t.Kind() == reflect.Slice && isArray:
		values, err := array.Values()
		if err != nil {
			return err
		}
		for i, v := range values {
			if err := knownKeysOf(v, t.Elem()); err != nil {
				return fmt.Errorf("%d: %w", i, err)
			}
		}
	}
	return nil
}

func fieldNamed(t reflect.Type, key string) (reflect.Type, bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("bson"), ",")
		if name == key {
			return f.Type, true
		}
	}
	return nil, false
}
