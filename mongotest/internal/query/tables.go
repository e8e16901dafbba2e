package query

import "github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"

// The parser looks an operator up here, so that it needs none by name.
func init() {
	type parse = func(p *filterParser, nodes []node, key string, v Value) ([]node, error)
	constant := func(_ *filterParser, nodes []node, key string, v Value) ([]node, error) {
		n, err := parseConstant(key, v)
		return append(nodes, n), err
	}
	topOperators = map[string]parse{
		"$and": (*filterParser).logical, "$or": (*filterParser).logical, "$nor": (*filterParser).logical,
		"$comment":    func(_ *filterParser, nodes []node, _ string, _ Value) ([]node, error) { return nodes, nil },
		"$alwaysTrue": constant, "$alwaysFalse": constant,
		"$expr": func(p *filterParser, nodes []node, _ string, v Value) ([]node, error) {
			n, err := p.expression(v)
			return append(nodes, n), err
		},
		"$jsonSchema": (*filterParser).schema,
		"$where":      (*filterParser).script, "$text": (*filterParser).text,
	}
}

// The parser looks an operator up here, so that it needs none by name.
func init() {
	type parse = func(p *filterParser, key string, v Value, whole []byte) (condition, error)
	comparison := func(p *filterParser, key string, v Value, _ []byte) (condition, error) { return p.comparison(key, v) }
	bits := func(p *filterParser, key string, v Value, _ []byte) (condition, error) { return p.bits(key, v) }
	geometric := func(_ *filterParser, key string, v Value, whole []byte) (condition, error) {
		return parseGeo(key, v, whole)
	}
	plain := func(parse func(p *filterParser, v Value) (condition, error)) parse {
		return func(p *filterParser, _ string, v Value, _ []byte) (condition, error) { return parse(p, v) }
	}
	fieldOperators = map[string]parse{
		"$eq": comparison, "$ne": comparison, "$gt": comparison, "$gte": comparison, "$lt": comparison, "$lte": comparison,
		"$in": func(p *filterParser, key string, v Value, _ []byte) (condition, error) { return p.in(key, v) },
		"$nin": func(p *filterParser, key string, v Value, _ []byte) (condition, error) {
			c, err := p.in(key, v)
			return not{c}, err
		},
		"$not":    plain((*filterParser).not),
		"$exists": plain(func(_ *filterParser, v Value) (condition, error) { return parseExists(v), nil }),
		"$regex":  func(_ *filterParser, _ string, v Value, whole []byte) (condition, error) { return parseRegex(v, whole) },
		"$options": func(_ *filterParser, _ string, _ Value, whole []byte) (condition, error) {
			if Lookup(whole, "$regex").Missing() {
				return nil, mongoerr.Errorf(mongoerr.BadValue, "$options needs a $regex")
			}
			return nil, nil
		},
		"$type":      plain((*filterParser).types),
		"$size":      plain(func(_ *filterParser, v Value) (condition, error) { return parseSize(v) }),
		"$all":       plain((*filterParser).all),
		"$elemMatch": plain((*filterParser).elemMatch),
		"$mod":       plain(func(_ *filterParser, v Value) (condition, error) { return parseMod(v) }),
		"$geoWithin": geometric, "$within": geometric, "$geoIntersects": geometric,
		"$bitsAllSet": bits, "$bitsAllClear": bits, "$bitsAnySet": bits, "$bitsAnyClear": bits,
	}
}

// A schema looks a keyword up here, because schemas contain schemas.
func init() {
	schemaKeywords = map[string]func(v Value, whole []byte) (rule, error){
		"title": schemaText("title"), "description": schemaText("description"),
		"type": schemaJSONType, "bsonType": schemaBSONType, "enum": schemaEnum,
		"minimum": schemaMinimum, "exclusiveMinimum": schemaExclusive("minimum"), "multipleOf": schemaMultipleOf,
		"maximum": schemaMaximum, "exclusiveMaximum": schemaExclusive("maximum"),
		"minLength":     schemaCount("minLength", lengthOf, atLeast),
		"maxLength":     schemaCount("maxLength", lengthOf, atMost),
		"minItems":      schemaCount("minItems", itemsOf, atLeast),
		"maxItems":      schemaCount("maxItems", itemsOf, atMost),
		"minProperties": schemaCount("minProperties", propertiesOf, atLeast),
		"maxProperties": schemaCount("maxProperties", propertiesOf, atMost),
		"pattern":       schemaPattern, "uniqueItems": schemaUnique,
		"items": schemaItems, "additionalItems": schemaAdditionalItems,
		"required": schemaRequired, "properties": schemaProperties, "patternProperties": schemaPatterns,
		"additionalProperties": schemaAdditionalProperties, "dependencies": schemaDependencies,
		"allOf": schemaCombined("allOf"), "anyOf": schemaCombined("anyOf"), "oneOf": schemaCombined("oneOf"), "not": schemaNot,
	}
}
