package unified

import (
	"bytes"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// matcher compares what a file expects with what there is. An actual value of type zero does not exist.
type matcher struct {
	entities *entities // for the operators that name one; nil where there are none
}

// match returns what differs. The actual value of a root-level document may have more fields than the expected one.
func (m *matcher) match(expected, actual bson.RawValue, root bool) error {
	if op, operand, ok := operatorOf(expected); ok {
		return m.operate(op, operand, actual, root)
	}
	if actual.Type == 0 {
		return fmt.Errorf("want %v, there is nothing", expected)
	}
	switch expected.Type {
	case bson.TypeEmbeddedDocument:
		return m.matchDocument(expected.Document(), actual, root)
	case bson.TypeArray:
		return m.matchArray(expected, actual, false)
	}
	if !equalScalars(expected, actual) {
		return fmt.Errorf("want %v, got %v", expected, actual)
	}
	return nil
}

func (m *matcher) matchDocument(expected bson.Raw, actual bson.RawValue, root bool) error {
	got, ok := actual.DocumentOK()
	if !ok {
		return fmt.Errorf("want the document %v, got %v", expected, actual)
	}
	elements, err := expected.Elements()
	if err != nil {
		return err
	}
	for _, e := range elements {
		if err := m.match(e.Value(), field(got, e.Key()), false); err != nil {
			return fmt.Errorf("%s: %w", e.Key(), err)
		}
	}
	if root {
		return nil
	}
	fields, err := got.Elements()
	if err != nil {
		return err
	}
	for _, f := range fields {
		if field(expected, f.Key()).Type == 0 {
			return fmt.Errorf("%s: nothing is wanted, got %v", f.Key(), f.Value())
		}
	}
	return nil
}

// matchArray compares element by element; rootItems says that they are root-level documents.
func (m *matcher) matchArray(expected, actual bson.RawValue, rootItems bool) error {
	array, ok := actual.ArrayOK()
	if !ok {
		return fmt.Errorf("want the array %v, got %v", expected, actual)
	}
	want, err := expected.Array().Values()
	if err != nil {
		return err
	}
	got, err := array.Values()
	if err != nil {
		return err
	}
	if len(got) != len(want) {
		return fmt.Errorf("want %d elements, got %d: %v", len(want), len(got), actual)
	}
	for i := range want {
		if err := m.match(want[i], got[i], rootItems); err != nil {
			return fmt.Errorf("%d: %w", i, err)
		}
	}
	return nil
}

// field returns a document's field by its key as it is, dots and all.
func field(doc bson.Raw, key string) bson.RawValue {
	v, err := doc.LookupErr(key)
	if err != nil {
		return bson.RawValue{}
	}
	return v
}

// operatorOf reports whether a value is a document whose first and only key is an operator.
func operatorOf(v bson.RawValue) (string, bson.RawValue, bool) {
	doc, ok := v.DocumentOK()
	if !ok {
		return "", bson.RawValue{}, false
	}
	elements, err := doc.Elements()
	if err != nil || len(elements) != 1 || !strings.HasPrefix(elements[0].Key(), "$$") {
		return "", bson.RawValue{}, false
	}
	return elements[0].Key(), elements[0].Value(), true
}

// equalScalars compares values that are neither documents nor arrays; a number equals another of the same value.
func equalScalars(a, b bson.RawValue) bool {
	if order, ok := compareNumbers(a, b); ok {
		return order == 0
	}
	return a.Type == b.Type && bytes.Equal(a.Value, b.Value)
}
