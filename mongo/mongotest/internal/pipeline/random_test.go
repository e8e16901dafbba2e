package pipeline

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// maker makes random documents and pipelines.
type maker struct{ *rand.Rand }

func (m maker) one(list ...string) string { return list[m.IntN(len(list))] }

func (m maker) value() string {
	return m.one(`1`, `2`, `3`, `{"$numberLong": "2"}`, `2.5`, `-1`, `0`, `{"$numberDecimal": "2.0"}`, `"a"`, `"b"`, `""`, `null`, `true`, `false`,
		`[]`, `[1]`, `[1, 2, "a"]`, `[[1, 2], 3]`, `{}`, `{"x": 1}`, `{"x": [1, 2]}`, `{"x": {"y": 2}}`, `[{"x": 1}, {"x": 2}]`,
		`[{"x": 1, "y": 1}, {"y": 2}]`, `[{"x": [1, 5]}, 7]`, `{"$date": {"$numberLong": "5"}}`, `{"$oid": "000000000000000000000001"}`)
}

func (m maker) number() string {
	return m.one("1", "2", "3", "5", "-4", "2.5", `{"$numberLong": "7"}`, "null", "0")
}

func (m maker) document(id int) string {
	return fmt.Sprintf(`{"_id": %d, "a": %s, "b": %s, "n": %s, "g": %s}`, id, m.value(), m.value(), m.number(), m.one(`"p"`, `"q"`, "1", "null"))
}

func (m maker) documents(n int) string {
	var docs []string
	for i := range n {
		docs = append(docs, m.document(i))
	}
	return "[" + strings.Join(docs, ", ") + "]"
}

func (m maker) field() string { return m.one("a", "b", "n", "g", "a.x", "b.y", "b.x.y", "c", "_id") }

func (m maker) plain() string { return m.one("a", "b", "n", "g", "z") }

func (m maker) expression(depth int) string {
	switch n := m.IntN(12); {
	case n < 5 || depth == 0:
		return `"$` + m.field() + `"`
	case n == 5:
		return m.value()
	case n == 6:
		return fmt.Sprintf(`{"$ifNull": [%s, %s]}`, m.expression(depth-1), m.expression(depth-1))
	case n == 7:
		return fmt.Sprintf(`{"$cond": [{"$gt": [%s, %s]}, %s, %s]}`, m.expression(0), m.expression(0), m.expression(depth-1), m.expression(depth-1))
	case n == 8:
		return fmt.Sprintf(`{"$eq": [%s, %s]}`, m.expression(depth-1), m.expression(depth-1))
	case n == 9:
		return fmt.Sprintf(`[%s, %s]`, m.expression(depth-1), m.expression(depth-1))
	case n == 10:
		return fmt.Sprintf(`{"$add": ["$n", %s]}`, m.number())
	}
	return m.one(`"$$ROOT.a"`, `"$$REMOVE"`, `"$$CURRENT.b"`, `"text"`)
}

func (m maker) stage() string {
	switch m.IntN(22) {
	case 0:
		return fmt.Sprintf(`{"$match": {"%s": %s}}`, m.field(), m.value())
	case 1:
		return fmt.Sprintf(`{"$match": {"$expr": {"$gte": [%s, %s]}}}`, m.expression(1), m.expression(1))
	case 2:
		return fmt.Sprintf(`{"$project": {"%s": 1, "%s": 1}}`, m.field(), m.field())
	case 3:
		return fmt.Sprintf(`{"$project": {"%s": 0}}`, m.field())
	case 4:
		return fmt.Sprintf(`{"$project": {"%s": 1, "z": %s, "%s": %s}}`, m.field(), m.expression(2), m.one("a", "b", "c", "b.y"), m.expression(1))
	case 5, 6:
		return fmt.Sprintf(`{"$set": {"%s": %s, "z": %s}}`, m.one("a", "b", "a.x", "b.y", "b.x.y", "c"), m.expression(2), m.expression(1))
	case 7:
		return fmt.Sprintf(`{"$unset": ["%s", "z"]}`, m.field())
	case 8:
		return fmt.Sprintf(`{"$group": {"_id": {"k": {"$ifNull": [%s, null]}}, "b": {"%s": %s}, "n": {"$sum": 1}}}, {"$sort": {"_id": 1}}`, m.expression(1),
			m.one("$sum", "$min", "$max", "$first", "$last", "$push", "$avg"), m.expression(1))
	case 9:
		return fmt.Sprintf(`{"$sort": {"%s": %s, "_id": 1}}`, m.plain(), m.one("1", "-1"))
	case 10:
		return fmt.Sprintf(`{"$limit": %d}`, m.IntN(9)+1)
	case 11:
		return fmt.Sprintf(`{"$skip": %d}`, m.IntN(3))
	case 12, 13:
		return fmt.Sprintf(`{"$unwind": {"path": "$%s", "preserveNullAndEmptyArrays": %s%s}}`, m.field(), m.one("true", "false"),
			m.one("", `, "includeArrayIndex": "i"`, `, "includeArrayIndex": "a.i"`))
	case 14:
		return fmt.Sprintf(`{"$replaceRoot": {"newRoot": {"$mergeObjects": ["$$ROOT", {"k": %s}]}}}`, m.expression(1))
	case 15:
		return fmt.Sprintf(`{"$lookup": {"from": "d", "localField": "%s", "foreignField": "%s", "as": "%s"}}`, m.field(), m.field(), m.one("z", "b", "b.x"))
	case 16:
		return fmt.Sprintf(`{"$lookup": {"from": "d", "let": {"v": %s}, "pipeline": [{"$match": {"$expr": {"$eq": [%s, "$$v"]}}}, %s], "as": "z"}}`,
			m.expression(1), m.expression(0), m.one(`{"$limit": 2}`, `{"$project": {"w": "$$v"}}`, `{"$count": "n"}`))
	case 17:
		return m.one(`{"$count": "n"}`, fmt.Sprintf(`{"$facet": {"p": [{"$limit": 2}], "q": [{"$match": {"%s": %s}}, {"$count": "n"}]}}`, m.field(), m.value()))
	case 18:
		return fmt.Sprintf(`{"$bucket": {"groupBy": "$%s", "boundaries": [0, 2, 6], "default": "other", "output": {"n": {"$sum": 1}, "a": {"$push": "$n"}}}}`, m.field())
	case 19:
		return fmt.Sprintf(`{"$redact": {"$cond": [{"$eq": ["$%s", %s]}, "$$PRUNE", "$$%s"]}}`, m.plain(), m.value(), m.one("KEEP", "DESCEND", "DESCEND"))
	case 20:
		return fmt.Sprintf(`{"$setWindowFields": {"partitionBy": "$%s", "sortBy": {"_id": 1}, "output": {"%s": {"%s": "$n", "window": {"documents": [%s]}}, "r": {"$rank": {}}}}}`,
			m.one("g", "n"), m.one("a", "b", "z"), m.one("$sum", "$push", "$max", "$avg"), m.one(`-1, 1`, `"unbounded", "current"`, `0, 2`))
	}
	return m.one(`{"$fill": {"sortBy": {"_id": 1}, "output": {"n": {"method": "linear"}, "b": {"method": "locf"}}}}`, `{"$fill": {"output": {"n": {"value": 0}}}}`)
}

// end returns a stage after which equal documents have no order that could be compared.
func (m maker) end() string {
	return m.one(`{"$unionWith": "d"}`, `{"$unionWith": {"coll": "d", "pipeline": [{"$limit": 2}]}}`, `{"$match": {}}`, `{"$match": {}}`,
		`{"$sort": {"_id": 1}}, {"$densify": {"field": "n", "range": {"step": 2, "bounds": "full"}}}`,
		`{"$densify": {"field": "n", "partitionByFields": ["g"], "range": {"step": 1, "bounds": [-2, 4]}}}, {"$sort": {"n": 1, "g": 1, "_id": 1}}`)
}

// pipeline returns up to four stages. Documents go in and come out in an order that both sides agree on.
func (m maker) pipeline() string {
	stages := []string{`{"$sort": {"_id": 1}}`}
	for range 1 + m.IntN(4) {
		stages = append(stages, m.stage())
	}
	return "[" + strings.Join(append(stages, m.end()), ", ") + "]"
}

// sortedFields writes documents with the fields in the order of their names.
func sortedFields(docs []string) []string {
	sorted := slices.Clone(docs)
	for i, doc := range docs {
		var d bson.D
		if bson.UnmarshalExtJSON([]byte(doc), true, &d) == nil {
			sorted[i] = fmt.Sprint(sortedValue(d))
		}
	}
	return sorted
}

func sortedValue(v any) any {
	switch v := v.(type) {
	case bson.D:
		for i := range v {
			v[i].Value = sortedValue(v[i].Value)
		}
		slices.SortFunc(v, func(a, b bson.E) int { return strings.Compare(a.Key, b.Key) })
	case bson.A:
		for i := range v {
			v[i] = sortedValue(v[i])
		}
	}
	return fmt.Sprintf("%T%v", v, v)
}

func TestRandomPipelinesAgainstARealServer(t *testing.T) {
	e, m := newEngine(t), maker{rand.New(rand.NewPCG(7, 8))}
	done, answered, moved := 0, 0, 0
	for range 50 {
		in := memory{}
		for _, line := range []string{"@c " + m.documents(10), "@d " + m.documents(5)} {
			in.fill(t, line)
			e.fill(t, line)
		}
		for range 120 {
			text := m.pipeline()
			got, want := in.ours(t, text), e.theirs(t, text)
			done++
			if strings.Contains(text, "$densify") { // no order among equals
				slices.Sort(got)
				slices.Sort(want)
			}
			if len(want) == 0 || !strings.HasPrefix(want[0], "error ") {
				answered++
			}
			if !slices.Equal(got, want) && slices.Equal(sortedFields(got), sortedFields(want)) {
				moved++ // to the real server a field that a stage took away and a later one sets again has kept its place
				continue
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s\nover %s\ngot  %s\nwant %s", text, raw(in["c"]), strings.Join(got, "\n     "), strings.Join(want, "\n     "))
			}
		}
	}
	if answered*2 < done {
		t.Errorf("of %d pipelines only %d are without error", done, answered)
	}
	if moved*20 > done {
		t.Errorf("of %d pipelines %d have the fields in another order", done, moved)
	}
	t.Logf("%d pipelines, %d of them without error, %d with fields in another order", done, answered, moved)
}

// raw writes documents for the text of a failure.
func raw(docs [][]byte) string { return lines("", docs)[0] + " ..." }
