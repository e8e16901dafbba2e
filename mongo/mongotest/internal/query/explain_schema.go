package query

import (
	"slices"

	"github.com/holdfast-db/holdfast/internal/wire"
)

// schema explains a $jsonSchema.
func (e *explainer) schema(c *clause, doc []byte, inverted bool) []byte {
	r := newReport().text("operatorName", "$jsonSchema").annotated(c.value.Data)
	if inverted {
		return r.document("specifiedAs", c.specified()).text("reason", "schema matched").end()
	}
	return r.list("schemaRulesNotSatisfied", e.rules(c.value.Data, documentValue(doc))).end()
}

// annotated writes what a schema says about itself.
func (r report) annotated(schema []byte) report {
	for _, name := range [...]string{"title", "description"} {
		if v := Lookup(schema, name); !v.Missing() {
			r = r.value(name, v)
		}
	}
	return r
}

// holds tells whether a value is as a schema wants it.
func (e *explainer) holds(schema []byte, v Value) bool {
	if v.IsDocument() {
		return e.matches(newReport().document("$jsonSchema", schema).end(), v.Data)
	}
	properties := newReport().document("v", schema).end()
	whole := newReport().document("properties", properties).end()
	return e.matches(newReport().document("$jsonSchema", whole).end(), newReport().value("v", v).end())
}

// keywordOrder is the order in which the real server comes to the keywords.
var keywordOrder = []string{
	"maximum", "minimum", "maxLength", "minLength", "pattern", "multipleOf", "minItems", "maxItems", "uniqueItems", "items", "additionalItems",
	"properties", "patternProperties", "additionalProperties", "required", "minProperties", "maxProperties", "dependencies",
	"allOf", "anyOf", "oneOf", "not", "enum", "type", "bsonType",
}

// rules explains the keywords of a schema by which it does not hold.
func (e *explainer) rules(schema []byte, v Value) []Value {
	var list []Value
	var names []string
	it := wire.Elements(schema)
	for it.Next() {
		names = append(names, string(it.Key))
	}
	slices.SortStableFunc(names, func(a, b string) int { return slices.Index(keywordOrder, a) - slices.Index(keywordOrder, b) })
	for _, name := range names {
		if rule := e.rule(name, schema, v); rule != nil {
			list = append(list, documentValue(rule))
		}
	}
	return list
}

// companions are the keywords without which another one means something else.
var companions = map[string][]string{
	"minimum": {"exclusiveMinimum"}, "maximum": {"exclusiveMaximum"}, "additionalProperties": {"properties", "patternProperties"},
	"additionalItems": {"items"},
}

// rule explains one keyword, nil if the value is as it wants.
func (e *explainer) rule(name string, schema []byte, v Value) []byte {
	arg := Lookup(schema, name)
	alone := newReport().value(name, arg)
	for _, other := range companions[name] {
		if c := Lookup(schema, other); !c.Missing() {
			if name == "additionalProperties" || name == "additionalItems" {
				c = lenient(c)
			}
			alone = alone.value(other, c)
		}
	}
	if name == "exclusiveMinimum" || name == "exclusiveMaximum" || e.holds(alone.end(), v) {
		return nil
	}
	r := newReport().text("operatorName", name)
	switch name {
	case "properties":
		return r.list("propertiesNotSatisfied", e.properties(arg.Data, v)).end()
	case "items":
		return e.items(r, arg, v)
	case "allOf", "anyOf", "oneOf":
		return e.schemas(r, name, arg, v)
	case "dependencies":
		return r.list("failingDependencies", e.dependencies(arg.Data, v)).end()
	case "not":
		return r.text("reason", "child expression matched").end()
	}
	r = r.document("specifiedAs", newReport().value(name, arg).end())
	switch name {
	case "required":
		return r.list("missingProperties", missingProperties(arg, v)).end()
	case "additionalProperties":
		return r.list("additionalProperties", unnamed(Lookup(schema, "properties"), v)).end()
	}
	r = r.text("reason", schemaReasons[name])
	if name != "minProperties" && name != "maxProperties" {
		r = r.value("consideredValue", v)
	}
	return r.extra(name, v).end()
}

var schemaReasons = map[string]string{
	"bsonType": "type did not match", "type": "type did not match", "enum": "value was not found in enum",
	"minimum": "comparison failed", "maximum": "comparison failed", "multipleOf": "considered value is not a multiple of the specified value",
	"minLength": "specified string length was not satisfied", "maxLength": "specified string length was not satisfied",
	"pattern": "regular expression did not match", "minItems": "array did not match specified length", "maxItems": "array did not match specified length",
	"uniqueItems": "found a duplicate item", "minProperties": "specified number of properties was not satisfied",
	"maxProperties": "specified number of properties was not satisfied",
}

// extra writes what some keywords say besides.
func (r report) extra(name string, v Value) report {
	switch name {
	case "bsonType", "type":
		return r.text("consideredType", TypeName(v.Type))
	case "minItems", "maxItems":
		return r.value("numberOfItems", Int32(int32(len(v.elements()))))
	case "minProperties", "maxProperties":
		return r.value("numberOfProperties", Int32(int32(len(Elements(v.Data)))))
	case "uniqueItems":
		list := v.elements()
		for i, item := range list {
			if slices.ContainsFunc(list[:i], func(other Value) bool { return Equal(item, other) }) {
				return r.value("duplicatedValue", item)
			}
		}
	}
	return r
}

// lenient returns schemas by their names without what they want: they only name fields.
func lenient(schemas Value) Value {
	if !schemas.IsDocument() {
		return schemas
	}
	r := newReport()
	it := wire.Elements(schemas.Data)
	for it.Next() {
		r = r.document(string(it.Key), emptyDocument)
	}
	return documentValue(r.end())
}

func (e *explainer) properties(schemas []byte, v Value) []Value {
	var list []Value
	it := wire.Elements(schemas)
	for it.Next() {
		p := v.lookup(string(it.Key))
		if p.Missing() || e.holds(it.Value, p) {
			continue
		}
		r := newReport().text("propertyName", string(it.Key)).annotated(it.Value)
		list = append(list, documentValue(r.list("details", e.rules(it.Value, p)).end()))
	}
	return list
}

func (e *explainer) items(r report, schema, v Value) []byte {
	schemas := schema.elements()
	for i, item := range v.elements() {
		s := schema
		if schema.IsArray() {
			if i >= len(schemas) {
				break
			}
			s = schemas[i]
		}
		if !e.holds(s.Data, item) {
			return r.text("reason", "At least one item did not match the sub-schema").value("itemIndex", Int32(int32(i))).
				list("details", e.rules(s.Data, item)).end()
		}
	}
	return r.end()
}

func (e *explainer) schemas(r report, name string, schemas, v Value) []byte {
	var wrong, right []Value
	for i, s := range schemas.elements() {
		at := Int32(int32(i))
		if e.holds(s.Data, v) {
			right = append(right, at)
			continue
		}
		wrong = append(wrong, documentValue(newReport().value("index", at).annotated(s.Data).list("details", e.rules(s.Data, v)).end()))
	}
	if name == "oneOf" && len(right) > 1 {
		return r.text("reason", "more than one subschema matched").list("matchingSchemaIndexes", right).end()
	}
	return r.list("schemasNotSatisfied", wrong).end()
}

// dependencies explains which fields a document has without what they ask for.
func (e *explainer) dependencies(asked []byte, v Value) []Value {
	var list []Value
	it := wire.Elements(asked)
	for it.Next() {
		name, wanted := string(it.Key), Of(it.Element)
		r := newReport().text("conditionalProperty", name)
		switch {
		case v.lookup(name).Missing():
		case wanted.IsDocument() && !e.holds(wanted.Data, v):
			list = append(list, documentValue(r.list("details", e.rules(wanted.Data, v)).end()))
		case wanted.IsArray():
			if missing := missingProperties(wanted, v); len(missing) > 0 {
				list = append(list, documentValue(r.list("missingProperties", missing).end()))
			}
		}
	}
	return list
}

func missingProperties(required, v Value) []Value {
	return slices.DeleteFunc(slices.Clone(required.elements()), func(name Value) bool { return !v.lookup(string(name.Text())).Missing() })
}

// unnamed returns the names of a document's fields that have no schema.
func unnamed(schemas, v Value) []Value {
	var list []Value
	it := wire.Elements(v.Data)
	for it.Next() {
		if schemas.lookup(string(it.Key)).Missing() {
			list = append(list, textOf(string(it.Key)))
		}
	}
	return list
}
