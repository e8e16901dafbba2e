package query

import (
	"slices"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// property is a value of a document, or an item of an array.
type property struct {
	name  string
	index int
	Value
}

// properties returns the values of a document or an array whose names are wanted.
func properties(v Value, wanted func(name string) bool) []property {
	var list []property
	it := wire.Elements(v.Data)
	for i := 0; it.Next(); i++ {
		if name := string(it.Key); wanted(name) {
			list = append(list, property{name, i, Of(it.Element)})
		}
	}
	return list
}

// matching tells of names whether they match a pattern of a schema, which was compiled before.
func matching(pattern string) func(name string) bool {
	re, fault, err := CompileRegex("", pattern, "")
	return func(name string) bool { return err == nil && fault == "" && re.matches([]byte(name), nil) }
}

// additionalItems returns the items of an array for which a list of schemas has none.
func additionalItems(schemas, v Value) []property {
	if !v.IsArray() || !schemas.IsArray() {
		return nil
	}
	items := properties(v, func(string) bool { return true })
	return items[min(len(items), len(schemas.elements())):]
}

// additionalProperties returns the properties of a document that a schema neither names nor has a pattern for.
func additionalProperties(schema []byte, v Value) []property {
	if !v.IsDocument() {
		return nil
	}
	var matches []func(name string) bool
	for it := wire.Elements(Lookup(schema, "patternProperties").Data); it.Next(); {
		matches = append(matches, matching(string(it.Key)))
	}
	named := Lookup(schema, "properties")
	return properties(v, func(name string) bool {
		return named.lookup(name).Missing() && !slices.ContainsFunc(matches, func(match func(string) bool) bool { return match(name) })
	})
}

// additional explains additionalItems or additionalProperties, nil if none of them is wrong.
func (e *explainer) additional(name string, arg Value, list []property) []byte {
	r := newReport().text("operatorName", name)
	if arg.IsDocument() {
		i := slices.IndexFunc(list, func(p property) bool { return !e.holds(arg.Data, p.Value) })
		if i < 0 {
			return nil
		}
		return r.annotated(arg.Data).wrongOne(name, list[i]).list("details", e.rules(arg.Data, list[i].Value)).end()
	}
	if len(list) == 0 || arg.True() {
		return nil
	}
	r = r.document("specifiedAs", newReport().value(name, arg).end())
	var found []Value
	for _, p := range list {
		if name == "additionalProperties" {
			p.Value = Text(p.name)
		}
		found = append(found, p.Value)
	}
	if name == "additionalItems" {
		r = r.text("reason", "found additional items")
	}
	return r.list(name, found).end()
}

func (r report) wrongOne(name string, p property) report {
	if name == "additionalItems" {
		return r.text("reason", "At least one additional item did not match the sub-schema").value("itemIndex", Int32(int32(p.index)))
	}
	return r.text("reason", "at least one additional property did not match the subschema").text("failingProperty", p.name)
}
