package query

import (
	"slices"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// schema explains a $jsonSchema.
func (e *explainer) schema(c *clause, doc []byte, inverted bool) []byte {
	r := newReport().text("operatorName", "$jsonSchema")
	if inverted {
		return r.text("reason", "schema matched").end()
	}
	return r.annotated(c.value.Data).list("schemaRulesNotSatisfied", e.rules(c.value.Data, Document(doc))).end()
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

// holds reports whether a value is as a schema wants it.
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
	"multipleOf", "maximum", "minimum", "maxLength", "minLength", "pattern", "minItems", "maxItems", "uniqueItems", "items", "additionalItems",
	"properties", "additionalProperties", "patternProperties", "required", "minProperties", "maxProperties", "dependencies",
	"allOf", "anyOf", "oneOf", "not", "enum", "type", "bsonType",
}

// ofAllTypes are the keywords that are about values of all types. A value whose own type is wrong is explained by these alone.
var ofAllTypes = []string{"allOf", "anyOf", "oneOf", "not", "enum", "type", "bsonType"}

// rules explains the keywords of a schema by which it does not hold.
func (e *explainer) rules(schema []byte, v Value) []Value {
	var list []Value
	var names []string
	typed := e.holdsAll(schema, v, "type", "bsonType")
	it := wire.Elements(schema)
	for it.Next() {
		if name := string(it.Key); typed || slices.Contains(ofAllTypes, name) {
			names = append(names, name)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return slices.Index(keywordOrder, a) - slices.Index(keywordOrder, b) })
	for _, name := range names {
		if rule := e.rule(name, schema, v); rule != nil {
			list = append(list, Document(rule))
		}
	}
	return list
}

// holdsAll reports whether a value is as some keywords of a schema want it.
func (e *explainer) holdsAll(schema []byte, v Value, keywords ...string) bool {
	alone := newReport()
	for _, name := range keywords {
		if arg := Lookup(schema, name); !arg.Missing() {
			alone = alone.value(name, arg)
		}
	}
	return e.holds(alone.end(), v)
}

// exclusive are the keywords that say whether a limit is allowed itself.
var exclusive = map[string]string{"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}

// rule explains one keyword, nil if the value is as it wants.
func (e *explainer) rule(name string, schema []byte, v Value) []byte {
	arg := Lookup(schema, name)
	switch name {
	case "exclusiveMinimum", "exclusiveMaximum":
		return nil
	case "additionalItems":
		return e.additional(name, arg, additionalItems(Lookup(schema, "items"), v))
	case "additionalProperties":
		return e.additional(name, arg, additionalProperties(schema, v))
	}
	if e.holdsAll(schema, v, name, exclusive[name]) {
		return nil
	}
	r := newReport().text("operatorName", name)
	switch name {
	case "properties":
		return r.list("propertiesNotSatisfied", e.properties(arg.Data, v)).end()
	case "patternProperties":
		return r.list("details", e.patterns(arg, v)).end()
	case "items":
		return e.items(r, arg, v)
	case "allOf", "anyOf", "oneOf":
		return e.schemas(r, name, arg, v)
	case "dependencies":
		return r.list("failingDependencies", e.dependencies(arg.Data, v)).end()
	case "not":
		return r.text("reason", "child expression matched").end()
	}
	specified := newReport().value(name, arg)
	if also := Lookup(schema, exclusive[name]); also.True() {
		specified = specified.value(exclusive[name], also)
	}
	r = r.document("specifiedAs", specified.end())
	if name == "required" {
		return r.list("missingProperties", missingProperties(arg, v)).end()
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

func (e *explainer) properties(schemas []byte, v Value) []Value {
	var list []Value
	it := wire.Elements(schemas)
	for it.Next() {
		p := v.lookup(string(it.Key))
		if p.Missing() || e.holds(it.Value, p) {
			continue
		}
		r := newReport().text("propertyName", string(it.Key)).annotated(it.Value)
		list = append(list, Document(r.list("details", e.rules(it.Value, p)).end()))
	}
	return list
}

// patterns explains for each pattern the first property of its names that is wrong.
func (e *explainer) patterns(arg, v Value) []Value {
	var list []Value
	for it := wire.Elements(arg.Data); it.Next(); {
		for _, p := range properties(v, matching(string(it.Key))) {
			if !e.holds(it.Value, p.Value) {
				r := newReport().text("propertyName", p.name).annotated(it.Value).text("regexMatched", string(it.Key))
				list = append(list, Document(r.list("details", e.rules(it.Value, p.Value)).end()))
				break
			}
		}
	}
	return list
}

// items explains the first item that is wrong, or each where each has a schema of its own.
func (e *explainer) items(r report, schema, v Value) []byte {
	items := v.elements()
	if !schema.IsArray() {
		i := slices.IndexFunc(items, func(item Value) bool { return !e.holds(schema.Data, item) })
		return r.annotated(schema.Data).text("reason", "At least one item did not match the sub-schema").
			value("itemIndex", Int32(int32(i))).list("details", e.rules(schema.Data, items[i])).end()
	}
	var list []Value
	for i, s := range schema.elements() {
		if i < len(items) && !e.holds(s.Data, items[i]) {
			wrong := newReport().value("itemIndex", Int64(int64(i))).list("details", e.rules(s.Data, items[i]))
			list = append(list, Document(wrong.end()))
		}
	}
	return r.list("details", list).end()
}

func (e *explainer) schemas(r report, name string, schemas, v Value) []byte {
	var wrong, right []Value
	for i, s := range schemas.elements() {
		at := Int32(int32(i))
		if e.holds(s.Data, v) {
			right = append(right, at)
			continue
		}
		wrong = append(wrong, Document(newReport().value("index", at).annotated(s.Data).list("details", e.rules(s.Data, v)).end()))
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
			list = append(list, Document(r.list("details", e.rules(wanted.Data, v)).end()))
		case wanted.IsArray():
			if missing := missingProperties(wanted, v); len(missing) > 0 {
				list = append(list, Document(r.list("missingProperties", missing).end()))
			}
		}
	}
	return list
}

func missingProperties(required, v Value) []Value {
	return slices.DeleteFunc(slices.Clone(required.elements()), func(name Value) bool { return !v.lookup(string(name.Text())).Missing() })
}
