package query

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// The keywords of a schema for the content of arrays and documents.

func schemaUnique(v Value, _ []byte) (rule, error) {
	if v.Type != bson.TypeBoolean {
		return nil, keyword("uniqueItems", "must be a boolean")
	}
	if !v.True() {
		return nil, nil
	}
	return func(v Value, _ *Matching) bool {
		if !v.IsArray() {
			return true
		}
		var known ValueSet
		for _, e := range v.elements() {
			if !known.Add(e) {
				return false
			}
		}
		return true
	}, nil
}

func schemaItems(v Value, _ []byte) (rule, error) {
	if v.IsDocument() {
		s, err := parseSchema(v.Data)
		return eachItem(0, s), err
	}
	if !v.IsArray() {
		return nil, keyword("items", "must be an array or an object, not %s", TypeName(v.Type))
	}
	var list []schema
	for _, e := range v.elements() {
		s, err := nestedSchema(e, keyword("items", "requires that each element of the array is an object, but found a %s",
			TypeName(e.Type)))
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return func(v Value, m *Matching) bool {
		if !v.IsArray() {
			return true
		}
		for i, e := range v.elements() {
			if i < len(list) && !list[i].test(e, m) {
				return false
			}
		}
		return true
	}, nil
}

// eachItem asks of the items of an array from the given index on that they meet a schema.
func eachItem(from int, s schema) rule {
	return func(v Value, m *Matching) bool {
		if !v.IsArray() {
			return true
		}
		list := v.elements()
		return !slices.ContainsFunc(list[min(from, len(list)):], func(e Value) bool { return !s.test(e, m) })
	}
}

func schemaAdditionalItems(v Value, whole []byte) (rule, error) {
	s, err := schemaOrBool(v, keyword("additionalItems", "must be either an object or a boolean, but got a %s",
		TypeName(v.Type)))
	items := Lookup(whole, "items")
	if err != nil || !items.IsArray() {
		return nil, err
	}
	return eachItem(len(items.elements()), s), nil
}

// schemaOrBool compiles a schema, or true for one that all meet and false for one that none does.
func schemaOrBool(v Value, refusal error) (schema, error) {
	if v.Type == bson.TypeBoolean {
		allowed := v.True()
		return schema{func(Value, *Matching) bool { return allowed }}, nil
	}
	return nestedSchema(v, refusal)
}

func schemaRequired(v Value, _ []byte) (rule, error) {
	if !v.IsArray() {
		return nil, keyword("required", "must be an array, but found an element of type %s", TypeName(v.Type))
	}
	list := v.elements()
	if len(list) == 0 {
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "$jsonSchema keyword 'required' cannot be an empty array")
	}
	var known ValueSet
	for _, e := range list {
		switch {
		case e.Type != bson.TypeString:
			return nil, keyword("required", "must be an array of strings, but found an element of type: %s", TypeName(e.Type))
		case !known.Add(e):
			return nil, mongoerr.Errorf(mongoerr.FailedToParse, "$jsonSchema keyword 'required' array cannot contain duplicate values")
		}
	}
	return hasAll(list), nil
}

// hasAll asks of a document that it has fields of all the names.
func hasAll(names []Value) rule {
	return func(v Value, _ *Matching) bool {
		has := func(name string) bool { return !v.lookup(name).Missing() }
		if len(names) > many && v.IsDocument() {
			fields := make(map[string]bool)
			for _, f := range ObjectOf(v.Data) {
				fields[f.Name] = true
			}
			has = func(name string) bool { return fields[name] }
		}
		return !v.IsDocument() || !slices.ContainsFunc(names, func(name Value) bool { return !has(string(name.Text())) })
	}
}

func schemaProperties(v Value, _ []byte) (rule, error) {
	if !v.IsDocument() {
		return nil, keyword("properties", "must be an object")
	}
	list := make(map[string]schema)
	it := wire.Elements(v.Data)
	for it.Next() {
		s, err := nestedSchema(Of(it.Element), mongoerr.Errorf(mongoerr.TypeMismatch, "Nested schema for $jsonSchema property '%s' must be an object",
			it.Key))
		if err != nil {
			return nil, err
		}
		list[string(it.Key)] = s
	}
	return eachProperty(func(name []byte, v Value, m *Matching) bool { return list[string(name)].test(v, m) }), it.Err
}

// eachProperty asks something of every field of a document.
func eachProperty(ok func(name []byte, v Value, m *Matching) bool) rule {
	return func(v Value, m *Matching) bool {
		if !v.IsDocument() {
			return true
		}
		it := wire.Elements(v.Data)
		for it.Next() {
			if !ok(it.Key, Of(it.Element), m) {
				return false
			}
		}
		return true
	}
}

// patternSchema is one of patternProperties.
type patternSchema struct {
	name   *Regexp
	schema schema
}

func schemaPatterns(v Value, _ []byte) (rule, error) {
	list, err := patternSchemas(v)
	return eachProperty(func(name []byte, v Value, m *Matching) bool {
		return !slices.ContainsFunc(list, func(p patternSchema) bool { return p.name.matches(name, m) && !p.schema.test(v, m) })
	}), err
}

func patternSchemas(v Value) ([]patternSchema, error) {
	if !v.IsDocument() {
		return nil, keyword("patternProperties", "must be an object")
	}
	var list []patternSchema
	it := wire.Elements(v.Data)
	for it.Next() {
		s, err := nestedSchema(Of(it.Element), keyword("patternProperties", "has property '%s' which is not an object", it.Key))
		if err != nil {
			return nil, err
		}
		re, refused, err := CompileRegex("", string(it.Key), "")
		switch {
		case err != nil:
			return nil, err
		case refused != "":
			return nil, mongoerr.Errorf(mongoerr.BadValue, "Invalid regular expression: %s", refused)
		}
		list = append(list, patternSchema{re, s})
	}
	return list, it.Err
}

func schemaAdditionalProperties(v Value, whole []byte) (rule, error) {
	s, err := schemaOrBool(v, keyword("additionalProperties", "must be an object or a boolean"))
	if err != nil {
		return nil, err
	}
	var patterns []patternSchema
	if p := Lookup(whole, "patternProperties"); !p.Missing() {
		if patterns, err = patternSchemas(p); err != nil {
			return nil, err
		}
	}
	known := make(map[string]bool)
	if properties := Lookup(whole, "properties"); properties.IsDocument() {
		for _, f := range ObjectOf(properties.Data) {
			known[f.Name] = true
		}
	}
	return eachProperty(func(name []byte, v Value, m *Matching) bool {
		if known[string(name)] {
			return true
		}
		return slices.ContainsFunc(patterns, func(p patternSchema) bool { return p.name.matches(name, m) }) || s.test(v, m)
	}), nil
}

func schemaDependencies(v Value, _ []byte) (rule, error) {
	if !v.IsDocument() {
		return nil, keyword("dependencies", "must be an object")
	}
	all := make(map[string]schema)
	it := wire.Elements(v.Data)
	for it.Next() {
		r, err := dependency(string(it.Key), Of(it.Element))
		if err != nil {
			return nil, err
		}
		all[string(it.Key)] = append(all[string(it.Key)], r)
	}
	return func(v Value, m *Matching) bool {
		if !v.IsDocument() {
			return true
		}
		it := wire.Elements(v.Data)
		for nextField(&it) {
			if !all[string(it.Key)].test(v, m) {
				return false
			}
		}
		return true
	}, it.Err
}

// dependency asks something of the documents that have a field.
func dependency(name string, v Value) (rule, error) {
	needs := schema{}
	switch {
	case v.IsDocument():
		s, err := parseSchema(v.Data)
		if err != nil {
			return nil, err
		}
		needs = s
	case v.IsArray():
		list, err := dependencyNames(name, v)
		if err != nil {
			return nil, err
		}
		needs = append(needs, hasAll(list))
	default:
		return nil, mongoerr.Errorf(mongoerr.TypeMismatch, "property '%s' in $jsonSchema keyword 'dependencies' must be either an object or an array",
			name)
	}
	return needs.test, nil
}

func dependencyNames(name string, v Value) ([]Value, error) {
	list := v.elements()
	if len(list) == 0 {
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "property '%s' in $jsonSchema keyword 'dependencies' cannot be an empty array", name)
	}
	var known ValueSet
	for _, e := range list {
		switch {
		case e.Type != bson.TypeString:
			return nil, mongoerr.Errorf(mongoerr.TypeMismatch, "array '%s' in $jsonSchema keyword 'dependencies' can only contain strings, but found "+
				"element of type: %s", name, TypeName(e.Type))
		case !known.Add(e):
			return nil, mongoerr.Errorf(mongoerr.FailedToParse, "array '%s' in $jsonSchema keyword 'dependencies' contains duplicate element: %s", name,
				e.Text())
		}
	}
	return list, nil
}
