package userfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// object is a JSON object by its fields. Package json would take the last of two fields with the same name, and a name in other letters.
type object map[string]json.RawMessage

var errNoObject = errors.New("it must be a JSON object")

// fieldsOf reads the fields of an object of valid JSON.
func fieldsOf(text json.RawMessage) (object, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, errNoObject
	}
	o := make(object)
	for d.More() {
		token, err := d.Token()
		name, ok := token.(string)
		if err != nil || !ok {
			return nil, errNoObject
		}
		if _, twice := o[name]; twice {
			return nil, fmt.Errorf("%s is there twice; it must be there once", name)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, errNoObject
		}
		o[name] = value
	}
	return o, nil
}

// objectOf reads an object that has no other fields than the known ones.
func objectOf(text json.RawMessage, known ...string) (object, error) {
	o, err := fieldsOf(text)
	if err != nil {
		return nil, err
	}
	for name := range o {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("there is no field %q; known are: %s", name, strings.Join(known, ", "))
		}
	}
	return o, nil
}

func (o object) get(name string) (json.RawMessage, error) {
	value, ok := o[name]
	if !ok {
		return nil, fmt.Errorf("%s is missing", name)
	}
	return value, nil
}

// read reads a field, which must be there and of the type.
func (o object) read(name, kind string, to any) error {
	value, err := o.get(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(value, to); err != nil || string(value) == "null" {
		return fmt.Errorf("%s must be %s", name, kind)
	}
	return nil
}

// readIf reads a field that may be absent.
func (o object) readIf(name, kind string, to any) error {
	if _, ok := o[name]; !ok {
		return nil
	}
	return o.read(name, kind, to)
}
