package expr

import (
	"bytes"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

var objectOperators = []operator{
	{name: "$mergeObjects", max: -1, lazy: mergeObjects},
	{name: "$objectToArray", min: 1, max: 1, long: objectToArray},
	{name: "$arrayToObject", min: 1, max: 1, long: arrayToObject},
	{name: "$getField", optimize: untouched, parse: parseGetField, lazy: getField},
	{name: "$setField", optimize: untouched, parse: parseSetField("field", "input", "value"), lazy: setField},
	{name: "$unsetField", optimize: untouched, parse: parseSetField("field", "input"), lazy: setField},
}

// mergeObjects takes documents, or as its only argument an array of them.
func mergeObjects(env *Env, args []Expression) (Value, error) {
	var merged query.Builder
	err := eachArg(env, args, func(v Value) (bool, error) {
		values := []Value{v}
		if len(args) == 1 && v.IsArray() {
			values = query.Elements(v.Data)
		}
		for _, e := range values {
			if err := mergeInto(&merged, e); err != nil {
				return true, err
			}
			if err := env.Work.Do(1); err != nil {
				return true, err
			}
		}
		return false, nil
	})
	return merged.Made(), err
}

func mergeInto(b *query.Builder, v Value) error {
	if v.IsNullish() {
		return nil
	}
	if !v.IsDocument() {
		return mongoerr.Errorf(40400, "$mergeObjects requires object inputs, but input %s is of type %s", spelled(v), typeName(v))
	}
	for _, f := range query.ObjectOf(v.Data) {
		if !f.Value.Missing() {
			b.Set(f.Name, f.Value)
		}
	}
	return nil
}

func objectToArray(env *Env, args []Value) (Value, error) {
	if args[0].IsNullish() {
		return null, nil
	}
	if !args[0].IsDocument() {
		return missing, mongoerr.Errorf(40390, "$objectToArray requires a document input, found: %s", typeName(args[0]))
	}
	var pairs []Value
	for _, f := range query.ObjectOf(args[0].Data) {
		if err := env.Work.Do(1); err != nil {
			return missing, err
		}
		if !f.Value.Missing() {
			pairs = append(pairs, object{}.Set("k", query.Text(f.Name)).Set("v", f.Value).Made())
		}
	}
	return array(pairs), nil
}

func arrayToObject(env *Env, args []Value) (Value, error) {
	if args[0].IsNullish() {
		return null, nil
	}
	if !args[0].IsArray() {
		return missing, mongoerr.Errorf(40386, "$arrayToObject requires an array input, found: %s", typeName(args[0]))
	}
	var b query.Builder
	elements := query.Elements(args[0].Data)
	for _, e := range elements {
		key, v, err := pair(e, elements[0])
		if err != nil {
			return missing, err
		}
		b.Set(string(key), v)
		if err := env.Work.Do(1); err != nil {
			return missing, err
		}
	}
	return b.Made(), nil
}

// pair reads one element of $arrayToObject, all of which must be written like the first.
func pair(e, first Value) (key []byte, v Value, err error) {
	mixed := "$arrayToObject requires a consistent input format. Elements mustall be arrays or all be objects. %s was detected, now found: %s"
	switch {
	case first.IsArray() && !e.IsArray():
		return nil, missing, mongoerr.Errorf(40396, mixed, "Array", typeName(e))
	case first.IsDocument() && !e.IsDocument():
		return nil, missing, mongoerr.Errorf(40391, mixed, "Object", typeName(e))
	case e.IsArray():
		return arrayPair(query.Elements(e.Data))
	case e.IsDocument():
		return documentPair(e)
	}
	return nil, missing, mongoerr.Errorf(40398, "Unrecognised input type format for $arrayToObject: %s", typeName(e))
}

func arrayPair(elements []Value) (key []byte, v Value, err error) {
	if len(elements) != 2 {
		return nil, missing, mongoerr.Errorf(40397, "$arrayToObject requires an array of size 2 arrays,found array of size: %d", len(elements))
	}
	if !elements[0].IsString() {
		return nil, missing, mongoerr.Errorf(40395,
			"$arrayToObject requires an array of key-value pairs, where the key must be of type string. Found key type: %s", typeName(elements[0]))
	}
	if key = elements[0].Text(); bytes.IndexByte(key, 0) >= 0 {
		return nil, missing, mongoerr.Errorf(4940400, "Key field cannot contain an embedded null byte")
	}
	return key, elements[1], nil
}

func documentPair(e Value) (key []byte, v Value, err error) {
	if n := len(query.Elements(e.Data)); n != 2 {
		return nil, missing, mongoerr.Errorf(40392, "$arrayToObject requires an object keys of 'k' and 'v'. Found incorrect number of keys:%d", n)
	}
	k, v := query.Lookup(e.Data, "k"), query.Lookup(e.Data, "v")
	if k.Missing() || v.Missing() {
		return nil, missing, mongoerr.Errorf(40393, "$arrayToObject requires an object with keys 'k' and 'v'. Missing either or both keys from: %s",
			spelled(e))
	}
	if !k.IsString() {
		return nil, missing, mongoerr.Errorf(40394,
			"$arrayToObject requires an object with keys 'k' and 'v', where the value of 'k' must be of type string. Found type: %s", typeName(k))
	}
	if key = k.Text(); bytes.IndexByte(key, 0) >= 0 {
		return nil, missing, mongoerr.Errorf(4940401, "Key field cannot contain an embedded null byte")
	}
	return key, v, nil
}
