package query_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// values are what the random documents, filters and updates are made of.
var values = []string{
	`1`, `2`, `{"$numberLong": "2"}`, `2.5`, `-1`, `0`, `{"$numberDouble": "NaN"}`, `{"$numberDecimal": "2.0"}`, `"a"`, `"b"`, `""`,
	`null`, `true`, `false`, `[]`, `[1]`, `[1, 2, "a"]`, `[[1, 2], 3]`, `{}`, `{"x": 1}`, `{"x": [1, 2]}`, `{"x": {"y": 2}}`,
	`[{"x": 1}, {"x": 2}]`, `[{"x": 1, "y": 1}, {"y": 2}]`, `[{"x": [1, 5]}, 7]`, `{"$date": {"$numberLong": "5"}}`,
	`{"$oid": "000000000000000000000001"}`, `{"$minKey": 1}`, `{"$maxKey": 1}`, `{"$binary": {"base64": "AQ==", "subType": "00"}}`,
	`[null]`, `[[]]`, `{"0": 1}`, `[{"0": 2}]`, `[3, 1, 2]`, `[{"x": 2, "y": [1, 2, 3]}, {"x": 1, "y": []}]`,
}

var paths = []string{"a", "b", "a.x", "a.0", "a.x.y", "a.0.x", "b.1", "a.x.0", "c", "a.y", "b.x"}

type maker struct{ *rand.Rand }

func (m maker) one(list ...string) string { return list[m.IntN(len(list))] }
func (m maker) value() string             { return m.one(values...) }
func (m maker) path() string              { return m.one(paths...) }

func (m maker) documents(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`{"_id": %d, "a": %s, "b": %s}`, i, m.value(), m.value())
	}
	return "[" + strings.Join(list, ", ") + "]"
}

func (m maker) filter(depth int) string {
	switch n := m.IntN(14); {
	case n == 0 && depth > 0:
		return fmt.Sprintf(`{"%s": [%s, %s]}`, m.one("$and", "$or", "$nor"), m.filter(depth-1), m.filter(depth-1))
	case n == 1:
		return fmt.Sprintf(`{"%s": %s, "%s": %s}`, m.path(), m.expression(depth), m.one("_id", "b.y"), m.expression(0))
	case n == 2:
		return fmt.Sprintf(`{"$jsonSchema": %s}`, m.schema(2))
	case n < 5:
		return fmt.Sprintf(`{"%s": %s}`, m.path(), m.value())
	}
	return fmt.Sprintf(`{"%s": %s}`, m.path(), m.expression(depth))
}

func (m maker) expression(depth int) string {
	switch n := m.IntN(22); {
	case n < 8:
		return fmt.Sprintf(`{"%s": %s}`, m.one("$eq", "$ne", "$gt", "$gte", "$lt", "$lte"), m.value())
	case n < 10:
		return fmt.Sprintf(`{"%s": [%s, %s]}`, m.one("$in", "$nin", "$all"), m.value(), m.value())
	case n == 10:
		return fmt.Sprintf(`{"$exists": %s}`, m.one("true", "false", "1", "0", "null"))
	case n == 11:
		return fmt.Sprintf(`{"$type": %s}`, m.one(`"int"`, `"array"`, `"number"`, `2`, `["string", "object"]`, `"null"`))
	case n == 12:
		return fmt.Sprintf(`{"$size": %d}`, m.IntN(4))
	case n == 13:
		return fmt.Sprintf(`{"$mod": [%s, %d]}`, m.one("2", "3", "2.5", "-2"), m.IntN(3)-1)
	case n == 14:
		return fmt.Sprintf(`{"$regex": "%s", "$options": "%s"}`, m.one("^a", "A", "b$", ".", "a # b"), m.one("", "i", "x"))
	case n == 15:
		return fmt.Sprintf(`{"%s": %s}`, m.one("$bitsAllSet", "$bitsAllClear", "$bitsAnySet", "$bitsAnyClear"), m.one("1", "[1]", "[0, 70]", "3"))
	case n < 18 && depth > 0:
		return fmt.Sprintf(`{"$not": %s}`, m.expression(depth-1))
	case n < 20 && depth > 0:
		return fmt.Sprintf(`{"$elemMatch": %s}`, m.expression(depth-1))
	case depth > 0:
		return fmt.Sprintf(`{"$elemMatch": {"x": %s}}`, m.expression(depth-1))
	}
	return fmt.Sprintf(`{"$gt": %s, "$lt": %s}`, m.value(), m.value())
}

func (m maker) schema(depth int) string {
	switch n := m.IntN(9); {
	case n == 0:
		return fmt.Sprintf(`{"required": ["%s"]}`, m.one("a", "b", "x"))
	case n == 1:
		return fmt.Sprintf(`{"bsonType": "%s"}`, m.one("object", "array", "int", "number"))
	case n == 2:
		return fmt.Sprintf(`{"minimum": %d, "maxItems": %d, "minProperties": %d}`, m.IntN(3), m.IntN(3), m.IntN(3))
	case n == 3:
		return fmt.Sprintf(`{"enum": [%s]}`, m.value())
	case n == 4 && depth > 0:
		return fmt.Sprintf(`{"%s": [%s, %s]}`, m.one("allOf", "anyOf", "oneOf"), m.schema(depth-1), m.schema(depth-1))
	case n == 5 && depth > 0:
		return fmt.Sprintf(`{"items": %s}`, m.schema(depth-1))
	case depth > 0:
		return fmt.Sprintf(`{"properties": {"%s": %s}}`, m.one("a", "b", "x"), m.schema(depth-1))
	}
	return `{"uniqueItems": true}`
}

// target is a path of an update, with or without elements of arrays.
func (m maker) target() string {
	switch m.IntN(6) {
	case 0:
		return m.one("a.$", "b.$", "a.$.x", "a.$.y")
	case 1:
		return m.one("a.$[]", "a.$[].x", "a.$[].y.$[]", "b.$[]", "a.x.$[]")
	case 2:
		return m.one("a.$[i]", "a.$[i].x", "a.$[i].y.$[j]", "b.$[j]")
	}
	return m.path()
}

func (m maker) update() string {
	field, other := m.target(), m.path()
	v, w := m.value(), m.value()
	switch m.IntN(18) {
	case 0:
		for other == field { // two fields of one name are no update
			other = m.target()
		}
		return fmt.Sprintf(`{"$set": {"%s": %s, "%s": %s}}`, field, v, other, w)
	case 1:
		return fmt.Sprintf(`{"$unset": {"%s": ""}, "$set": {"%s": %s}}`, field, other, v)
	case 2:
		return fmt.Sprintf(`{"$inc": {"%s": %s}}`, field, m.one("1", "2147483647", "0.5", `{"$numberLong": "9223372036854775807"}`, `"x"`, `{"$numberDecimal": "0.1"}`))
	case 3:
		return fmt.Sprintf(`{"$mul": {"%s": %s}}`, field, m.one("2", "2147483647", "0.5", `{"$numberLong": "4611686018427387904"}`, `{"$numberDecimal": "1.5"}`))
	case 4:
		return fmt.Sprintf(`{"%s": {"%s": %s}}`, m.one("$min", "$max"), field, v)
	case 5:
		return fmt.Sprintf(`{"$push": {"%s": %s}}`, field, v)
	case 6:
		return fmt.Sprintf(`{"$push": {"%s": {"$each": [%s, %s], "$slice": %d, "$position": %d}}}`, field, v, w, m.IntN(7)-3, m.IntN(7)-3)
	case 7:
		return fmt.Sprintf(`{"$push": {"%s": {"$each": [%s], "$sort": %s}}}`, field, v, m.one("1", "-1", `{"x": 1}`))
	case 8:
		return fmt.Sprintf(`{"$addToSet": {"%s": %s}}`, field, v)
	case 9:
		return fmt.Sprintf(`{"$addToSet": {"%s": {"$each": [%s, %s]}}}`, field, v, w)
	case 10:
		return fmt.Sprintf(`{"$pull": {"%s": %s}}`, field, v)
	case 11:
		return fmt.Sprintf(`{"$pull": {"%s": %s}}`, field, m.expression(1))
	case 12:
		return fmt.Sprintf(`{"$pullAll": {"%s": [%s, %s]}}`, field, v, w)
	case 13:
		return fmt.Sprintf(`{"$pop": {"%s": %s}}`, field, m.one("1", "-1", "2"))
	case 14:
		return fmt.Sprintf(`{"$rename": {"%s": "%s"}}`, m.path(), other)
	case 15:
		return fmt.Sprintf(`{"$bit": {"%s": {"%s": %s}}}`, field, m.one("and", "or", "xor"), m.one("1", "6", `{"$numberLong": "3"}`))
	case 16:
		return fmt.Sprintf(`{"b": %s, "c": %s}`, v, w)
	}
	return fmt.Sprintf(`{"$setOnInsert": {"%s": %s}, "$set": {"%s": %s}}`, field, v, other, w)
}

// arrayFilters are those that an update names.
func (m maker) arrayFilters(update string) string {
	var list []string
	for _, identifier := range []string{"i", "j"} {
		if strings.Contains(update, "$["+identifier+"]") {
			path := m.one(identifier, identifier, identifier+".x")
			list = append(list, fmt.Sprintf(`{"%s": %s}`, path, m.expression(1)))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return `, "arrayFilters": [` + strings.Join(list, ", ") + `]`
}

func (m maker) projection() string {
	leaf := func(sign string) string {
		switch m.IntN(8) {
		case 0:
			return fmt.Sprintf(`"%s": {"$slice": %s}`, m.path(), m.one("1", "-1", "[1, 2]", "[-2, 1]"))
		case 1:
			return fmt.Sprintf(`"%s": {"$elemMatch": %s}`, m.one("a", "b", "c"), m.one(`{"x": 1}`, `{"$gt": 1}`, `{"y": {"$exists": true}}`))
		case 2:
			return fmt.Sprintf(`"%s": "lit"`, m.path())
		case 3:
			return fmt.Sprintf(`"%s.$": 1`, m.path())
		}
		return fmt.Sprintf(`"%s": %s`, m.path(), sign)
	}
	sign := m.one("1", "0")
	first := leaf(sign)
	second := leaf(sign)
	if name, _, _ := strings.Cut(first, ":"); strings.HasPrefix(second, name+":") {
		return "{" + first + "}" // two fields of one name are no projection
	}
	return "{" + first + ", " + second + m.one("", `, "_id": 0`) + "}"
}

// agree runs random commands on both and compares the answers. What is refused by name is no difference.
func agree(t *testing.T, seed uint64, n int, next func(m maker) (docs, command string)) {
	t.Helper()
	server := reference(t)
	m := maker{rand.New(rand.NewPCG(seed, 1))}
	declined := 0
	for range n {
		docs, short := next(m)
		command := full(short)
		parsed, c := array(t, docs), doc(t, command)
		want, got := server.run(t, parsed, c), memory{}.run(t, parsed, c)
		if strings.HasPrefix(got, "238: ") {
			declined++
			continue
		}
		if got != want {
			t.Errorf("on %s\n%s\ngot  %s\nwant %s", docs, short, got, want)
		}
	}
	if declined > n/20 {
		t.Errorf("%d of %d were refused by name", declined, n)
	}
}

func TestRandomFiltersAgainstARealServer(t *testing.T) {
	agree(t, 1, 600, func(m maker) (string, string) {
		return m.documents(12), fmt.Sprintf(`{"filter": %s}`, m.filter(2))
	})
}

func TestRandomUpdatesAgainstARealServer(t *testing.T) {
	agree(t, 2, 1200, func(m maker) (string, string) {
		u := m.update()
		multi := "false"
		if strings.Contains(u, "$") {
			multi = m.one("true", "false")
		}
		return m.documents(2), fmt.Sprintf(`{"q": %s, "u": %s, "multi": %s%s}`, m.filter(1), u, multi, m.arrayFilters(u))
	})
}

func TestRandomUpsertsAgainstARealServer(t *testing.T) {
	agree(t, 3, 300, func(m maker) (string, string) {
		u := m.update()
		return "[]", fmt.Sprintf(`{"q": {"_id": 7, "%s": %s}, "u": %s, "upsert": true%s}`, m.path(), m.value(), u, m.arrayFilters(u))
	})
}

func TestRandomProjectionsAgainstARealServer(t *testing.T) {
	agree(t, 4, 600, func(m maker) (string, string) {
		return m.documents(3), fmt.Sprintf(`{"filter": {"%s": %s}, "projection": %s}`, m.path(), m.expression(1), m.projection())
	})
}

func TestRandomSortsAgainstARealServer(t *testing.T) {
	agree(t, 5, 300, func(m maker) (string, string) {
		return m.documents(6), fmt.Sprintf(`{"sort": {"%s": %s, "b.y": %s, "_id": 1}}`, m.path(), m.one("1", "-1"), m.one("1", "-1"))
	})
}
