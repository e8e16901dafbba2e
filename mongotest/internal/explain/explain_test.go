package explain_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/explain"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

func encoded(t testing.TB, text string) []byte {
	t.Helper()
	var d bson.D
	if err := bson.UnmarshalExtJSON([]byte(text), false, &d); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	b, err := bson.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func compiled(filter []byte) (func(doc []byte) (bool, error), error) {
	f, err := query.ParseFilter(filter)
	if err != nil {
		return nil, err
	}
	return func(doc []byte) (bool, error) { return f.Match(doc), nil }, nil
}

func ordered(sort []byte) (func(a, b []byte) int, error) {
	s, err := query.ParseSort(sort)
	if err != nil {
		return nil, err
	}
	return s.Compare, nil
}

func indexes(t testing.TB, specs ...string) []*store.Index {
	t.Helper()
	list := []*store.Index{store.IDIndex}
	for i, spec := range specs {
		ix, err := store.ParseIndex(encoded(t, fmt.Sprintf(`{"name": "i%d", "v": 2, %s}`, i, spec)), nil, false)
		if err != nil {
			t.Fatalf("%s: %v", spec, err)
		}
		list = append(list, ix)
	}
	return list
}

func arraysOf(list []*store.Index, records []*store.Record) [][][]string {
	return store.ArraysOf(list, func(visit func(r *store.Record) bool) {
		for _, r := range records {
			visit(r)
		}
	})
}

// parts of random filters.
var conditions = []string{
	`1`, `null`, `"a"`, `[1, 2]`, `{"$gt": 1}`, `{"$lte": 2}`, `{"$gte": 1, "$lt": 3}`, `{"$ne": 1}`, `{"$ne": null}`, `{"$in": [1, "b", null]}`,
	`{"$nin": [1, 2]}`, `{"$exists": true}`, `{"$exists": false}`, `{"$type": "number"}`, `{"$regex": "^a"}`, `{"$mod": [2, 1]}`,
	`{"$elemMatch": {"$gt": 0, "$lt": 3}}`, `{"$not": {"$gt": 1}}`, `{"$size": 2}`, `{"$all": [1, 2]}`, `{"$gt": [1]}`, `{"$lt": "b"}`,
}

var values = []string{`1`, `2`, `3`, `null`, `"a"`, `"b"`, `[1, 2]`, `[]`, `{"b": 1}`, `[{"b": 1}, {"b": 3}]`, `1.5`, `true`}

func pick(r *rand.Rand, list []string) string { return list[r.IntN(len(list))] }

func randomFilter(r *rand.Rand, depth int) string {
	if depth > 0 && r.IntN(4) == 0 {
		op := pick(r, []string{"$or", "$and", "$nor"})
		return fmt.Sprintf(`{%q: [%s, %s]}`, op, randomFilter(r, depth-1), randomFilter(r, depth-1))
	}
	paths := []string{"a", "b", "c", "a.b", "_id"}
	return fmt.Sprintf(`{%q: %s, %q: %s}`, paths[r.IntN(2)], pick(r, conditions), paths[2+r.IntN(3)], pick(r, conditions))
}

// Whatever index the plan uses, it finds the documents that a look at each of them finds.
func TestEveryPlanFindsTheSameDocuments(t *testing.T) {
	sets := [][]*store.Index{
		indexes(t, `"key": {"a": 1}`, `"key": {"b": -1, "c": 1}`),
		indexes(t, `"key": {"a": -1, "b": 1}`, `"key": {"a.b": 1}`, `"key": {"c": 1}, "sparse": true`),
		indexes(t, `"key": {"c": 1, "b": 1}, "partialFilterExpression": {"b": {"$gte": 1}}`, `"key": {"b": 1}`),
	}
	sorts := []string{"", `{"a": 1}`, `{"b": -1, "c": 1}`, `{"_id": -1}`}
	r := rand.New(rand.NewPCG(1, 2))
	used := make(map[string]bool)
	for range 3000 {
		var records []*store.Record
		for id := range int64(8) {
			doc := fmt.Sprintf(`{"_id": %d, "a": %s, "b": %s, "c": 1}`, id, pick(r, values), pick(r, values[:6]))
			records = append(records, &store.Record{ID: id, Doc: encoded(t, doc)})
		}
		text := randomFilter(r, 2)
		filter := encoded(t, text)
		match, err := compiled(filter)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		want := int32(0)
		for _, one := range records {
			if ok, _ := match(one.Doc); ok {
				want++
			}
		}
		q := &explain.Query{
			Filter: filter, NS: "db.c", Exists: true, Records: records, Indexes: sets[r.IntN(len(sets))], Express: r.IntN(2) == 0,
			Match: compiled, Compare: ordered,
		}
		q.Arrays = arraysOf(q.Indexes, records)
		if sort := pick(r, sorts); sort != "" {
			q.Sort = encoded(t, sort)
		}
		plan, err := explain.New(q)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if plan.Returned() != want {
			t.Fatalf("%s sorted by %s: the plan finds %d documents, want %d: %v", text, q.Sort, plan.Returned(), want, bson.Raw(plan.AppendPlanner([]byte{0, 0, 0, 0}, nil)))
		}
		for _, stage := range []string{"IXSCAN", "COLLSCAN", "SORT\x00", "OR\x00", "FETCH"} {
			used[stage] = used[stage] || containsStage(plan, stage)
		}
	}
	for stage, ok := range used {
		if !ok {
			t.Errorf("no plan has the stage %s", stage)
		}
	}
}

func containsStage(plan *explain.Plan, stage string) bool {
	text := string(plan.AppendPlanner(nil, nil))
	for i := range len(text) - len(stage) {
		if text[i:i+len(stage)] == stage {
			return true
		}
	}
	return false
}

// FuzzNew finds plans of any filter that the language accepts.
func FuzzNew(f *testing.F) {
	for _, text := range []string{`{}`, `{"a": {"$in": []}}`, `{"$or": [{"a": 1}, {"b": {"$regex": "^a.*"}}]}`, `{"a": {"$not": {"$elemMatch": {"b": 1}}}}`} {
		f.Add(encoded(f, text))
	}
	list := indexes(f, `"key": {"a": 1, "b": -1}`, `"key": {"b": 1}, "sparse": true`)
	records := []*store.Record{{ID: 1, Doc: encoded(f, `{"_id": 1, "a": [1, "x"], "b": 2}`)}, {ID: 2, Doc: encoded(f, `{"_id": 2}`)}}
	f.Fuzz(func(_ *testing.T, filter []byte) {
		if query.CheckDocument(filter) != nil {
			return
		}
		if _, err := query.ParseFilter(filter); err != nil {
			return
		}
		plan, err := explain.New(&explain.Query{
			Filter: filter, NS: "db.c", Exists: true, Records: records, Indexes: list, Arrays: arraysOf(list, records), Match: compiled, Compare: ordered,
		})
		if err != nil {
			return
		}
		_ = plan.AppendStats(plan.AppendPlanner(nil, nil), explain.AllPlans)
	})
}
