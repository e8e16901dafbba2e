package unified

import (
	"encoding/hex"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// operate applies a special operator.
func (m *matcher) operate(op string, operand, actual bson.RawValue, root bool) error {
	switch op {
	case "$$exists":
		return matchExists(operand, actual)
	case "$$type":
		return matchType(operand, actual)
	case "$$lte":
		return matchLessOrEqual(operand, actual)
	case "$$matchesHexBytes":
		return matchHexBytes(operand, actual)
	case "$$unsetOrMatches":
		if actual.Type == 0 {
			return nil
		}
		return m.match(operand, actual, root)
	case "$$matchAsRoot":
		if _, isDocument := operand.DocumentOK(); !isDocument {
			return fmt.Errorf("$$matchAsRoot: %v is not a document", operand)
		}
		return m.match(operand, actual, true)
	case "$$matchAsDocument":
		return m.matchAsDocument(operand, actual)
	case "$$matchesEntity":
		return m.matchEntity(operand, actual, root)
	case "$$sessionLsid":
		return m.matchLsid(operand, actual)
	}
	return fmt.Errorf("the operator %s is not supported by this runner", op)
}

func matchExists(operand, actual bson.RawValue) error {
	want, ok := operand.BooleanOK()
	switch {
	case !ok:
		return fmt.Errorf("$$exists: %v is not a boolean", operand)
	case want && actual.Type == 0:
		return errors.New("want a value, there is nothing")
	case !want && actual.Type != 0:
		return fmt.Errorf("nothing is wanted, got %v", actual)
	}
	return nil
}

// typeNames are the names of the $type query operator.
var typeNames = map[string][]bson.Type{
	"double": {bson.TypeDouble}, "string": {bson.TypeString}, "object": {bson.TypeEmbeddedDocument}, "array": {bson.TypeArray},
	"binData": {bson.TypeBinary}, "undefined": {bson.TypeUndefined}, "objectId": {bson.TypeObjectID}, "bool": {bson.TypeBoolean},
	"date": {bson.TypeDateTime}, "null": {bson.TypeNull}, "regex": {bson.TypeRegex}, "dbPointer": {bson.TypeDBPointer},
	"javascript": {bson.TypeJavaScript}, "symbol": {bson.TypeSymbol}, "javascriptWithScope": {bson.TypeCodeWithScope},
	"int": {bson.TypeInt32}, "timestamp": {bson.TypeTimestamp}, "long": {bson.TypeInt64}, "decimal": {bson.TypeDecimal128},
	"minKey": {bson.TypeMinKey}, "maxKey": {bson.TypeMaxKey},
	"number": {bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128},
}

func matchType(operand, actual bson.RawValue) error {
	names := []bson.RawValue{operand}
	if array, ok := operand.ArrayOK(); ok {
		var err error
		if names, err = array.Values(); err != nil {
			return err
		}
	}
	for _, n := range names {
		name, _ := n.StringValueOK()
		types, known := typeNames[name]
		if !known {
			return fmt.Errorf("$$type: %v is not a type", n)
		}
		for _, t := range types {
			if t == actual.Type {
				return nil
			}
		}
	}
	return fmt.Errorf("want a value of type %v, got %v", operand, actual)
}

func matchLessOrEqual(operand, actual bson.RawValue) error {
	order, ok := compareNumbers(actual, operand)
	if !ok || order > 0 {
		return fmt.Errorf("want at most %v, got %v", operand, actual)
	}
	return nil
}

func matchHexBytes(operand, actual bson.RawValue) error {
	text, _ := operand.StringValueOK()
	want, err := hex.DecodeString(text)
	if err != nil {
		return fmt.Errorf("$$matchesHexBytes: %w", err)
	}
	if got, ok := actual.StringValueOK(); !ok || got != string(want) {
		return fmt.Errorf("want the bytes %x, got %v", want, actual)
	}
	return nil
}

func (m *matcher) matchAsDocument(operand, actual bson.RawValue) error {
	text, ok := actual.StringValueOK()
	if !ok {
		return fmt.Errorf("$$matchAsDocument: want a string of extended JSON, got %v", actual)
	}
	var doc bson.Raw
	if err := bson.UnmarshalExtJSON([]byte(text), false, &doc); err != nil {
		return fmt.Errorf("$$matchAsDocument: %w", err)
	}
	return m.match(operand, documentValue(doc), false)
}

func (m *matcher) matchEntity(operand, actual bson.RawValue, root bool) error {
	want, err := entity[bson.RawValue](m.entities, operand)
	if err != nil {
		return fmt.Errorf("$$matchesEntity: %w", err)
	}
	return m.match(want, actual, root)
}

func (m *matcher) matchLsid(operand, actual bson.RawValue) error {
	s, err := entity[*mongoSession](m.entities, operand)
	if err != nil {
		return fmt.Errorf("$$sessionLsid: %w", err)
	}
	if text, ok := actual.StringValueOK(); ok { // an attribute of a span: the UUID
		if want := uuidText(s.ID()); text != want {
			return fmt.Errorf("want the session %s, got %s", want, text)
		}
		return nil
	}
	return m.match(documentValue(s.ID()), actual, false)
}

// uuidText returns the UUID of a session's id as text.
func uuidText(id bson.Raw) string {
	_, b := id.Lookup("id").Binary()
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func documentValue(doc bson.Raw) bson.RawValue {
	return bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: doc}
}
