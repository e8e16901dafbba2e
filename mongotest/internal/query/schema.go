package query

import (
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// schema is a compiled $jsonSchema: rules that a value must all meet.
type schema []rule

// rule reports whether a value meets one keyword of a schema. A keyword of another type's values is met.
type rule func(v Value, m *Matching) bool

func (s schema) test(v Value, m *Matching) bool {
	for _, r := range s {
		if !r(v, m) {
			return false
		}
	}
	return true
}

// schemaNode is $jsonSchema as a condition on the whole document.
type schemaNode struct{ schema }

func (n schemaNode) match(doc []byte, m *Matching) bool { return n.test(Document(doc), m) }

// parseSchemaNodes compiles a $jsonSchema. That a field is required is said once more, by a condition that notes by which
// element it is met.
func parseSchemaNodes(v Value) ([]node, error) {
	if !v.IsDocument() {
		return nil, mongoerr.Errorf(mongoerr.TypeMismatch, "$jsonSchema must be an object")
	}
	s, err := parseSchema(v.Data)
	if err != nil {
		return nil, err
	}
	nodes := []node{schemaNode{s}}
	for _, name := range requiredBy(v.Data) {
		nodes = append(nodes, &pathNode{path: path{name}, condition: &leaf{predicate: exists{}, expand: true}})
	}
	return nodes, nil
}

// requiredBy returns the fields that a schema requires, whatever else is in it.
func requiredBy(schema []byte) []string {
	var names []string
	it := wire.Elements(schema)
	for it.Next() {
		list := Elements(it.Value)
		switch string(it.Key) {
		case "required":
			for _, name := range list {
				names = append(names, string(name.Text()))
			}
		case "anyOf", "oneOf":
			if len(list) == 1 {
				names = append(names, requiredBy(list[0].Data)...)
			}
		case "allOf":
			for _, part := range list {
				names = append(names, requiredBy(part.Data)...)
			}
		}
	}
	return names
}

// schemaKeywords compile the keywords; whole is the schema, for those that belong together. A nil rule asks nothing.
var schemaKeywords map[string]func(v Value, whole []byte) (rule, error)

// SchemaKeywords returns the keywords that a $jsonSchema may have.
func SchemaKeywords() []string { return slices.Sorted(maps.Keys(schemaKeywords)) }

func parseSchema(doc []byte) (schema, error) {
	var s schema
	it := wire.Elements(doc)
	for it.Next() {
		name := string(it.Key)
		parse, ok := schemaKeywords[name]
		if !ok {
			return nil, unknownKeyword(name)
		}
		r, err := parse(Of(it.Element), doc)
		if err != nil {
			return nil, err
		}
		if r != nil {
			s = append(s, r)
		}
	}
	return s, it.Err
}

func unknownKeyword(name string) error {
	switch name {
	case "$ref", "$schema", "default", "definitions", "format", "id":
		return mongoerr.Errorf(mongoerr.FailedToParse, "$jsonSchema keyword '%s' is not currently supported", name)
	case "encrypt", "encryptMetadata":
		return unsupported("the schema keyword", name)
	}
	return mongoerr.Errorf(mongoerr.FailedToParse, "Unknown $jsonSchema keyword: %s", name)
}

func schemaText(name string) func(Value, []byte) (rule, error) {
	return func(v Value, _ []byte) (rule, error) {
		if v.Text() == nil {
			return nil, keyword(name, "must be of type string")
		}
		return nil, nil
	}
}

// keyword refuses a keyword's value by its type.
func keyword(name, format string, args ...any) error {
	return mongoerr.Errorf(mongoerr.TypeMismatch, "$jsonSchema keyword '"+name+"' "+format, args...)
}

func schemaEnum(v Value, _ []byte) (rule, error) {
	if !v.IsArray() {
		return nil, keyword("enum", "must be an array, but found an element of type %s", TypeName(v.Type))
	}
	list := v.elements()
	var known ValueSet
	for _, e := range list {
		if !known.Add(e) {
			return nil, mongoerr.Errorf(mongoerr.FailedToParse, "$jsonSchema keyword 'enum' array cannot contain duplicate values.")
		}
	}
	if len(list) == 0 {
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "$jsonSchema keyword 'enum' cannot be an empty array")
	}
	return func(v Value, _ *Matching) bool { return known.Has(v) }, nil
}

// schemaCount is a limit on how many characters, items or properties there are; of returns -1 for values of other types.
func schemaCount(name string, of func(Value) int, ok func(n, limit int64) bool) func(Value, []byte) (rule, error) {
	return func(v Value, _ []byte) (rule, error) {
		limit, refused := WholeNumber(name, v)
		if refused != "" {
			return nil, mongoerr.Errorf(mongoerr.FailedToParse, "%s", refused)
		}
		return func(v Value, _ *Matching) bool {
			n := of(v)
			return n < 0 || ok(int64(n), limit)
		}, nil
	}
}

func atLeast(n, limit int64) bool { return n >= limit }
func atMost(n, limit int64) bool  { return n <= limit }

func lengthOf(v Value) int {
	if text := v.Text(); text != nil {
		return utf8.RuneCount(text)
	}
	return -1
}

func itemsOf(v Value) int {
	if v.IsArray() {
		return len(v.elements())
	}
	return -1
}

func propertiesOf(v Value) int {
	if v.IsDocument() {
		return len(v.elements())
	}
	return -1
}

// nestedSchema compiles a schema within another.
func nestedSchema(v Value, refusal error) (schema, error) {
	if !v.IsDocument() {
		return nil, refusal
	}
	return parseSchema(v.Data)
}

func schemaNot(v Value, _ []byte) (rule, error) {
	s, err := nestedSchema(v, keyword("not", "must be an object, but found an element of type %s", TypeName(v.Type)))
	return func(v Value, m *Matching) bool { return !s.test(v, m) }, err
}

func schemaCombined(name string) func(Value, []byte) (rule, error) {
	return func(v Value, _ []byte) (rule, error) {
		if !v.IsArray() {
			return nil, keyword(name, "must be an array")
		}
		var list []schema
		for _, e := range v.elements() {
			s, err := nestedSchema(e, keyword(name, "must be an array of objects, but found an element of type %s",
				TypeName(e.Type)))
			if err != nil {
				return nil, err
			}
			list = append(list, s)
		}
		if len(list) == 0 {
			return nil, mongoerr.Errorf(mongoerr.BadValue, "$jsonSchema keyword '%s' must be a non-empty array", name)
		}
		return func(v Value, m *Matching) bool {
			met := 0
			for _, s := range list {
				if s.test(v, m) {
					met++
				}
			}
			return name == "allOf" && met == len(list) || name == "anyOf" && met > 0 || name == "oneOf" && met == 1
		}, nil
	}
}
