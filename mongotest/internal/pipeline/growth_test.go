package pipeline

import (
	"flag"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the zones, wherever the tests run

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/base/threadtime"
	"github.com/holdfast-db/holdfast/mongotest/internal/expr"
	"github.com/holdfast-db/holdfast/mongotest/internal/fulltext"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

var (
	growthBytes = flag.Int("growth", 0, "the larger of the two inputs whose times are compared, in bytes; 0: each case is only run once")
	growthOnly  = flag.String("growth-only", "", "compare only the cases whose name has this in it")
)

const (
	maxGrowth     = 3.0     // twice the input may take this many times as long; n log n takes a little more than 2 times, n squared takes 4 times
	maxHeap       = 3 << 30 // bytes
	growthRepeats = 5       // each measurement is made this often, and the shortest time counts; one that takes longer than longTime is made twice
	longTime      = 500 * time.Millisecond
	growthChances = 6                      // how often a case above the bar is measured: other work on the machine can only add to its time
	leastTime     = 400 * time.Microsecond // what is faster is repeated, and the repetitions are measured together
)

// growthCase is one operator with one input.
type growthCase struct {
	name string
	run  func(n int) func() error // makes an input of n bytes, and returns what is measured
}

// Some cases end with an error, because their input is small here.
func TestEachOperatorHasACaseOfGrowth(t *testing.T) {
	for _, c := range growthCases(t) {
		_ = c.run(4 << 10)()
	}
}

// The comparison takes minutes, so it runs only if a size is given. The figure's command does that.
func TestNoOperatorGrowsMoreThanNLogN(t *testing.T) {
	if *growthBytes == 0 {
		t.Skip("no size is given")
	}
	if raceEnabled {
		t.Skip("times mean nothing under the race detector")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(maxHeap)) // no garbage is collected, unless the heap is larger than this
	worst, slowest := 0.0, ""
	cases := growthCases(t)
	for i, c := range cases {
		if !strings.Contains(c.name, *growthOnly) {
			continue
		}
		began := time.Now()
		ratio := c.growth(t)
		fmt.Printf("%d of %d: %.2f, measured in %.1f s: %.120s\n", i+1, len(cases), ratio, time.Since(began).Seconds(), c.name)
		if ratio > maxGrowth {
			t.Errorf("%s: with twice the input the time is %.2f times as long", c.name, ratio)
		}
		if ratio > worst {
			worst, slowest = ratio, c.name
		}
		runtime.GC()
	}
	t.Logf("the largest: %s", slowest)
	fmt.Printf("figure slowest-operator-growth %.2f\n", worst)
}

// growth returns how many times as long the case takes with twice the input.
func (c growthCase) growth(t *testing.T) float64 {
	t.Helper()
	small, large := c.run(*growthBytes/2), c.run(*growthBytes)
	start := threadtime.Now()
	if err := small(); err != nil {
		t.Errorf("%s: %v", c.name, err)
		return 0
	}
	times := 1 + int(leastTime/(threadtime.Now()-start+1))
	least := 0.0
	for range growthChances {
		a, b := measured(t, c.name, small, times), measured(t, c.name, large, times)
		if ratio := float64(b) / float64(a+1); least == 0 || ratio < least {
			least = ratio
		}
		if least <= maxGrowth {
			break
		}
	}
	return least
}

// measured runs a case a number of times in a row. It repeats that, and returns the shortest time.
func measured(t *testing.T, name string, run func() error, times int) time.Duration {
	t.Helper()
	least := time.Duration(0)
	for i := 0; i < growthRepeats && (i < 2 || least < longTime); i++ {
		start := threadtime.Now()
		for range times {
			if err := run(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if took := threadtime.Now() - start; i == 0 || took < least {
			least = took
		}
	}
	runtime.GC()
	return least
}

// growthCases returns the cases of all operators.
func growthCases(t *testing.T) []growthCase {
	t.Helper()
	cases := expressionCases(t)
	cases = append(cases, accumulatorCases(t)...)
	cases = append(cases, windowCases(t)...)
	cases = append(cases, filterCases(t)...)
	cases = append(cases, updateCases(t)...)
	cases = append(cases, projectionCases(t)...)
	return append(cases, stageCases(t)...)
}

// complete fails the test if an operator of a package's table has no case, or if a case is of no operator.
func complete[T any](t *testing.T, kind string, cases map[string]T, operators []string) {
	t.Helper()
	if got := slices.Sorted(maps.Keys(cases)); !slices.Equal(got, slices.Sorted(slices.Values(operators))) {
		for _, name := range operators {
			if _, ok := cases[name]; !ok {
				t.Errorf("the %s %s has no case", kind, name)
			}
		}
		for _, name := range got {
			if !slices.Contains(operators, name) {
				t.Errorf("there is no %s %s", kind, name)
			}
		}
	}
}

// expecting returns a run that fails if run does. For a text that begins with "!" it fails if run does not.
func expecting(text string, run func() error) func() error {
	if !strings.HasPrefix(text, "!") {
		return run
	}
	return func() error {
		if err := run(); err == nil {
			return fmt.Errorf("no error")
		}
		return nil
	}
}

func expressionCases(t *testing.T) []growthCase {
	all := allExpressions()
	complete(t, "expression", all, expr.Operators())
	var cases []growthCase
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, text := range all[name] {
			cases = append(cases, growthCase{"expression " + name + " " + text, func(n int) func() error {
				spec, doc := growthValue(t, n, strings.TrimPrefix(text, "!")), growthDocument(n, text)
				return expecting(text, func() error {
					e, err := expr.Parse(spec, nil)
					if err != nil {
						return err
					}
					_, err = e.Eval(growthEnv(doc))
					return err
				})
			}})
		}
	}
	return cases
}

func growthEnv(doc []byte) *expr.Env {
	return &expr.Env{
		Root: doc, Now: 1_700_000_000_000, Rand: func() float64 { return 0.5 }, NewID: func() [12]byte { return [12]byte{1} },
		ClusterTime: Value{Type: bson.TypeTimestamp, Data: make([]byte, 8)},
	}
}

// growthDocuments returns documents that have some n bytes together.
func growthDocuments(n int) [][]byte {
	docs := make([][]byte, n/96)
	for i := range docs {
		scattered := i * 7919 % len(docs)
		o := object{
			{Name: "_id", Value: query.Int32(int32(i))},
			{Name: "a", Value: query.Int32(int32(scattered))},
			{Name: "g", Value: query.Int32(7)},
			{Name: "h", Value: query.Int32(int32(i % 10))},
			{Name: "t", Value: query.Text("text" + strconv.Itoa(scattered))},
			{Name: "o", Value: array([]Value{query.Int32(1), query.Int32(int32(i))})},
			{Name: "next", Value: query.Int32(int32(i + 1))},
		}
		if i%1000 == 0 {
			o = append(o, field{Name: "n", Value: query.Int32(int32(i))})
		}
		docs[i] = o.Bytes()
	}
	return docs
}

// piped returns a function that runs a pipeline over documents.
func piped(t *testing.T, n int, stages string, docs [][]byte) func() error {
	t.Helper()
	spec := growthValue(t, n, stages).Data
	source := memory{"c": growthDocuments(n)}
	return func() error {
		o := Options{DB: "db", Coll: "c"}
		if strings.Contains(stages, "$documents") {
			o.Coll = ""
		}
		p, err := Parse(spec, o)
		if err != nil {
			return err
		}
		c := source.context()
		vars, err := p.Vars(c)
		if err != nil {
			return err
		}
		_, err = p.Run(c, vars, slices.Values(docs))
		return err
	}
}

func accumulatorCases(t *testing.T) []growthCase {
	complete(t, "accumulator", growthAccumulators, expr.Accumulators())
	var cases []growthCase
	for _, name := range slices.Sorted(maps.Keys(growthAccumulators)) {
		for _, text := range growthAccumulators[name] {
			for _, id := range []string{`null`, `"$a"`} {
				if len(text) > 1 && text[0] == '[' { // $group takes an array for a list of arguments
					text = `{"$concatArrays": [` + text + `]}`
				}
				stage := `[{"$group": {"_id": ` + id + `, "v": {"` + name + `": ` + text + `}}}]`
				cases = append(cases, growthCase{"accumulator " + stage, func(n int) func() error {
					return piped(t, n, stage, growthDocuments(n))
				}})
			}
		}
	}
	return cases
}

func windowCases(t *testing.T) []growthCase {
	complete(t, "window function", growthFunctions, slices.Collect(maps.Keys(windowFunctions)))
	all := make(map[string]string)
	for name, texts := range growthAccumulators {
		all[name] = texts[0]
	}
	maps.Copy(all, growthFunctions)
	var cases []growthCase
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for i, window := range growthWindows {
			if !fits(name, i) {
				continue
			}
			stage := `[{"$setWindowFields": {"sortBy": {"_id": 1}, "output": {"v": {"` + name + `": ` + all[name] + window + `}}}}]`
			if i < 2 && slices.Contains(strings.Fields(allValues), name) { // each document gets a value that is as long as all of them together
				stage = strings.Replace(stage, `"sortBy"`, `"partitionBy": {"$floor": {"$divide": ["$_id", 10]}}, "sortBy"`, 1)
			}
			cases = append(cases, growthCase{"window " + stage, func(n int) func() error { return piped(t, n, stage, growthDocuments(n)) }})
		}
	}
	return cases
}

// fits reports whether a window function may have a window. It may not have one by which its results grow with the square of the input.
func fits(name string, i int) bool {
	switch name {
	case "$denseRank", "$documentNumber", "$rank", "$expMovingAvg", "$linearFill", "$locf", "$shift":
		return i == 0
	case "$accumulator": // it is an operator of $group only
		return false
	case "$derivative":
		return i > 0
	case "$mergeObjects":
		return i < 2
	}
	return i < 4 || !slices.Contains(strings.Fields(allValues), name)
}

func filterCases(t *testing.T) []growthCase {
	all := maps.Clone(growthFilters)
	all["$where"] = nil // of the server
	delete(all, "paths")
	complete(t, "query operator", all, query.Operators())
	all["paths"] = growthFilters["paths"]
	var cases []growthCase
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, text := range all[name] {
			cases = append(cases, growthCase{"filter " + name + " " + text, func(n int) func() error {
				return filtered(growthValue(t, n, text).Data, growthDocument(n, text))
			}})
		}
	}
	complete(t, "schema keyword", growthSchemas, query.SchemaKeywords())
	for _, name := range slices.Sorted(maps.Keys(growthSchemas)) {
		input, text := growthSchemas[name][0], `{"$jsonSchema": {"properties": {"v": `+growthSchemas[name][1]+`}}}`
		cases = append(cases, growthCase{"schema " + name + " " + text, func(n int) func() error {
			return filtered(growthValue(t, n, text).Data, object{}.Set("v", growthInputs[input](n)).Bytes())
		}})
	}
	return cases
}

func filtered(spec, doc []byte) func() error {
	return func() error {
		var f query.Filter
		env := growthEnv(doc)
		h := hooks(nil)
		h.Searches = query.Searches{Near: true, Text: true}
		if err := f.ParseWith(spec, h); err != nil {
			return err
		}
		m := query.Matching{Vars: env}
		if t := f.Text(); t != nil {
			english, _ := fulltext.LanguageOf("english")
			search := fulltext.NewSearch(t.Search, english, t.Case, t.Diacritic)
			m.Text = func(doc []byte, w *query.Work) (fulltext.Result, bool, error) {
				return search.Match(&fulltext.Index{Weights: map[string]float64{"$**": 1}, Language: "english"}, doc, w)
			}
		}
		_, err := f.MatchWith(doc, &m)
		return err
	}
}

func updateCases(t *testing.T) []growthCase {
	complete(t, "update operator", growthUpdates, query.UpdateOperators())
	var cases []growthCase
	for _, name := range slices.Sorted(maps.Keys(growthUpdates)) {
		for _, text := range growthUpdates[name] {
			cases = append(cases, growthCase{"update " + name + " " + text, func(n int) func() error {
				fields, filters, filtered := strings.Cut(text, "|")
				spec, doc, list := growthValue(t, n, `{"`+name+`": `+fields+`}`), growthDocument(n, text), missing
				if filtered {
					list = growthValue(t, n, filters)
				}
				return func() error {
					u, err := query.ParseUpdate(spec, list, query.Hooks{})
					if err != nil {
						return err
					}
					_, err = u.Apply(doc, query.Env{Now: time.Unix(1, 0)})
					return err
				}
			}})
		}
	}
	return cases
}

func projectionCases(t *testing.T) []growthCase {
	var cases []growthCase
	for _, text := range growthProjections {
		cases = append(cases, growthCase{"projection " + text, func(n int) func() error {
			fields, filter, _ := strings.Cut(text, "|")
			if filter == "" {
				filter = "{}"
			}
			f, err := query.ParseFilter(growthValue(t, n, filter).Data)
			if err != nil {
				t.Fatal(err)
			}
			spec, doc := growthValue(t, n, fields).Data, growthDocument(n, text)
			return func() error {
				p, err := query.ParseProjection(spec, f, hooks(nil))
				if err != nil {
					return err
				}
				_, err = p.AppendWith(nil, doc, growthEnv(doc))
				return err
			}
		}})
	}
	return cases
}

func stageCases(t *testing.T) []growthCase {
	all := maps.Clone(growthStages)
	for _, name := range strings.Fields(ofServer) {
		all[name] = nil
	}
	complete(t, "stage", all, Names())
	var cases []growthCase
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, text := range all[name] {
			cases = append(cases, growthCase{"stage " + text, func(n int) func() error {
				docs := growthDocuments(n)
				if doc := growthDocument(n, text); len(doc) > n/2 {
					docs = [][]byte{doc}
				}
				return piped(t, n, "["+text+"]", docs)
			}})
		}
	}
	return cases
}
