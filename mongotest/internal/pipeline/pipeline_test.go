package pipeline

import (
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

func parse(t *testing.T, stages string, o Options) *Pipeline {
	t.Helper()
	p, err := Parse(parseJSON(t, stages), o)
	if err != nil {
		t.Fatalf("%s: %v", stages, err)
	}
	return p
}

// doc returns the bytes of a document in Extended JSON.
func doc(t *testing.T, s string) []byte {
	t.Helper()
	return query.Elements(parseJSON(t, "["+s+"]"))[0].Data
}

func TestTheLetOfACommandIsKnownInAllStages(t *testing.T) {
	m := memory{}
	m.fill(t, `@c [{"_id": 1}, {"_id": 2}]`)
	let := doc(t, `{"v": {"$add": [1, 1]}, "w": "x"}`)
	for _, stages := range []string{
		`[{"$match": {"$expr": {"$eq": ["$_id", "$$v"]}}}, {"$set": {"w": "$$w"}}]`,
		`[{"$match": {"_id": 2}}, {"$lookup": {"from": "c", "let": {"u": "$_id"}, "pipeline": [
			{"$match": {"$expr": {"$eq": ["$$u", "$$v"]}}}, {"$limit": 1}, {"$set": {"w": "$$w"}}], "as": "z"}}, {"$project": {"w": {"$first": "$z.w"}}}]`,
		`[{"$facet": {"p": [{"$match": {"$expr": {"$eq": ["$_id", "$$v"]}}}]}}, {"$unwind": "$p"}, {"$replaceRoot": {"newRoot": {"_id": "$$v", "w": "$$w"}}}]`,
		`[{"$limit": 1}, {"$redact": {"$cond": [{"$eq": ["$$v", 2]}, "$$KEEP", "$$PRUNE"]}}, {"$project": {"_id": "$$v", "w": "$$w"}}]`,
	} {
		p := parse(t, stages, Options{DB: "db", Coll: "c", Let: let})
		docs, err := run(p, m.context(), slices.Values(m["c"]))
		want := `{"_id": {"$numberInt":"2"},"w": "x"}`
		if got := strings.Join(lines(docs), "\n"); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", stages, got, err, want)
		}
	}
}

func TestWhatAServerReadsOffAPipeline(t *testing.T) {
	for _, c := range []struct {
		stages, first, coll string
		reads, filter       bool
		target              bool
	}{
		{stages: `[]`, coll: "c", reads: true},
		{stages: `[{"$match": {"_id": 1}}, {"$limit": 1}]`, coll: "c", first: "$match", reads: true, filter: true},
		{stages: `[{"$limit": 1}, {"$match": {"_id": 1}}]`, coll: "c", first: "$limit", reads: true},
		{stages: `[{"$changeStream": {}}]`, coll: "c", first: "$changeStream"},
		{stages: `[{"$collStats": {"count": {}}}]`, coll: "c", first: "$collStats"},
		{stages: `[{"$documents": []}]`, first: "$documents"},
		{stages: `[{"$limit": 1}, {"$out": "o"}]`, coll: "c", first: "$limit", reads: true, target: true},
	} {
		p := parse(t, c.stages, Options{DB: "db", Coll: c.coll})
		if name, _ := p.First(); name != c.first {
			t.Errorf("%s: the first stage is %q, want %q", c.stages, name, c.first)
		}
		if p.Reads() != c.reads || (p.Filter() != nil) != c.filter || (p.Target() != nil) != c.target {
			t.Errorf("%s: reads %t, filter %v, target %v", c.stages, p.Reads(), p.Filter(), p.Target())
		}
	}
}

func TestTargets(t *testing.T) {
	for stage, want := range map[string]Target{
		`{"$out": "o"}`:                          {DB: "db", Coll: "o"},
		`{"$out": {"db": "other", "coll": "o"}}`: {DB: "other", Coll: "o"},
		`{"$merge": "o"}`:                        {Merge: true, DB: "db", Coll: "o", WhenMatched: "merge", WhenNotMatched: "insert"},
		`{"$merge": {"into": {"db": "other", "coll": "o"}, "on": ["a", "b"], "whenMatched": "replace", "whenNotMatched": "discard"}}`: {
			Merge: true, DB: "other", Coll: "o", On: []string{"a", "b"}, WhenMatched: "replace", WhenNotMatched: "discard",
		},
		`{"$merge": {"into": "o", "whenMatched": [{"$set": {"a": 1}}]}}`: {
			Merge: true, DB: "db", Coll: "o", WhenMatched: "pipeline", WhenNotMatched: "insert",
		},
	} {
		got := *parse(t, "["+stage+"]", Options{DB: "db", Coll: "c"}).Target()
		if got.Merge != want.Merge || got.DB != want.DB || got.Coll != want.Coll || !slices.Equal(got.On, want.On) ||
			got.WhenMatched != want.WhenMatched || got.WhenNotMatched != want.WhenNotMatched {
			t.Errorf("%s: %+v, want %+v", stage, got, want)
		}
	}
}

func TestAMergesPipelineSeesTheNewDocumentAndTheLet(t *testing.T) {
	p := parse(t, `[{"$merge": {"into": "o", "let": {"v": {"$add": ["$n", 1]}}, "whenMatched": [{"$set": {"n": "$$new.n", "v": "$$v", "one": "$$one"}}]}}]`,
		Options{DB: "db", Coll: "c", Let: doc(t, `{"one": 1}`)})
	vars, err := p.Vars(memory{}.context())
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Target().Apply(memory{}.context(), vars, doc(t, `{"_id": 1, "n": 1, "old": true}`), doc(t, `{"_id": 1, "n": 5}`))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"_id": {"$numberInt":"1"},"n": {"$numberInt":"5"},"old": true,"v": {"$numberInt":"6"},"one": {"$numberInt":"1"}}`
	if bson.Raw(got).String() != want {
		t.Errorf("%s, want %s", bson.Raw(got), want)
	}
}

func TestUpdatesUseTheLetOfTheirCommand(t *testing.T) {
	let, err := ParseLet(doc(t, `{"v": 7}`), version.Version{})
	if err != nil {
		t.Fatal(err)
	}
	u, err := let.Hooks().Pipeline(Value{Type: bson.TypeArray, Data: parseJSON(t, `[{"$replaceWith": {"n": "$$v"}}]`)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	vars, err := let.Vars(memory{}.context())
	if err != nil {
		t.Fatal(err)
	}
	got, err := u(doc(t, `{"_id": 1, "a": 1}`), vars)
	if want := `{"n": {"$numberInt":"7"}}`; err != nil || bson.Raw(got).String() != want {
		t.Errorf("%s, %v; want %s", bson.Raw(got), err, want)
	}
	f := &query.Filter{}
	if err := f.ParseWith(doc(t, `{"$expr": {"$eq": ["$a", {"$subtract": ["$$v", 6]}]}}`), let.Hooks()); err != nil {
		t.Fatal(err)
	}
	if ok, err := f.MatchWith(doc(t, `{"a": 1}`), &query.Matching{Vars: vars}); !ok || err != nil {
		t.Errorf("the filter with a variable does not match: %v", err)
	}
}

func TestALimitAsksForNoMoreThanItNeeds(t *testing.T) {
	p := parse(t, `[{"$project": {"r": {"$divide": [1, "$n"]}}}, {"$limit": 1}]`, Options{DB: "db", Coll: "c"})
	asked := 0
	docs, err := run(p, memory{}.context(), func(yield func([]byte) bool) {
		for _, d := range []string{`{"n": 1}`, `{"n": 0}`} {
			asked++
			if !yield(doc(t, d)) {
				return
			}
		}
	})
	if err != nil || len(docs) != 1 || asked != 1 {
		t.Errorf("%d documents asked for, %d returned, %v", asked, len(docs), err)
	}
}

func TestASampleHasEachDocumentOnce(t *testing.T) {
	m := memory{}
	m.fill(t, `@c [{"_id": 1}, {"_id": 2}, {"_id": 3}, {"_id": 4}]`)
	orders := make(map[string]bool)
	c := m.context()
	for range 50 {
		docs, err := run(parse(t, `[{"$sample": {"size": 3}}]`, Options{DB: "db", Coll: "c"}), c, slices.Values(m["c"]))
		if err != nil {
			t.Fatal(err)
		}
		got := lines(docs)
		orders[strings.Join(got, "")] = true
		if slices.Sort(got); len(slices.Compact(got)) != 3 {
			t.Errorf("the sample %s", got)
		}
	}
	if len(orders) < 10 {
		t.Errorf("only %d of 24 samples came up in 50 draws", len(orders))
	}
}
