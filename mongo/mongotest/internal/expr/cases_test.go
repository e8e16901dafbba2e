package expr_test

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/expr"
)

var record = flag.Bool("record", false, "write what the engine gives into testdata/cases")

// standard is the document that the cases are evaluated for.
const standard = `{
	"_id": 1, "i": 5, "l": {"$numberLong": "7"}, "f": 2.5, "d": {"$numberDecimal": "1.50"}, "s": "abc", "a": [1, 2, 3],
	"o": {"x": 1, "y": {"z": 2}}, "n": null, "t": {"$date": "2024-02-29T13:14:15.678Z"}, "b": true,
	"oa": [{"x": 1}, {"x": 2}, {"y": 3}], "bin": {"$binary": {"base64": "AQI=", "subType": "00"}},
	"ts": {"$timestamp": {"t": 1700000000, "i": 3}}, "oid": {"$oid": "507f1f77bcf86cd799439011"},
	"re": {"$regularExpression": {"pattern": "a", "options": "i"}}
}`

// testCase is an expression and what the engine gave for it when it was recorded.
type testCase struct{ expression, want string }

// readCases reads a file in which each expression is followed by a line with a tab and its result.
func readCases(t *testing.T, name string) []testCase {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var cases []testCase
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if result, ok := strings.CutPrefix(line, "\t"); ok {
			cases[len(cases)-1].want = result
		} else if line != "" {
			cases = append(cases, testCase{expression: line})
		}
	}
	return cases
}

func writeCases(t *testing.T, name string, cases []testCase) {
	t.Helper()
	var b strings.Builder
	for _, c := range cases {
		fmt.Fprintf(&b, "%s\n\t%s\n", c.expression, c.want)
	}
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func caseFiles(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("testdata/cases/*.txt")
	if err != nil || len(names) == 0 {
		t.Fatal("no cases", err)
	}
	return names
}

func TestCasesGiveWhatWasRecorded(t *testing.T) {
	doc := document(t, standard)
	used := make(map[string]bool)
	for _, name := range caseFiles(t) {
		for _, c := range readCases(t, name) {
			got := oneLine(evaluate(doc, value(t, c.expression)))
			reason := caseDifference(c.expression)
			switch {
			case reason != "" && got != c.want:
				used[c.expression] = true
			case got != c.want:
				t.Errorf("%s: %s\ngot  %s\nwant %s", name, c.expression, got, c.want)
			}
		}
	}
	for _, d := range caseDifferences {
		for _, expression := range d.expressions {
			if !used[expression] {
				t.Errorf("the difference is gone or no case: %s", expression)
			}
		}
	}
}

func TestTheEngineGivesWhatWasRecorded(t *testing.T) {
	e := newEngine(t)
	e.insert(document(t, standard))
	for _, name := range caseFiles(t) {
		cases := readCases(t, name)
		for i, c := range cases {
			got := oneLine(e.evaluate(1, value(t, c.expression)))
			if *record {
				cases[i].want = got
			} else if got != c.want {
				t.Errorf("%s: %s\nrecorded %s\nnow      %s", name, c.expression, c.want, got)
			}
		}
		if *record {
			writeCases(t, name, cases)
		}
	}
}

func TestEveryOperatorHasThreeCasesOfWhichOneSucceeds(t *testing.T) {
	all, fine := make(map[string]int), make(map[string]int)
	for _, name := range caseFiles(t) {
		for _, c := range readCases(t, name) {
			operator, _, _ := strings.Cut(strings.TrimPrefix(c.expression, `{"`), `"`)
			all[operator]++
			if !strings.HasPrefix(c.want, "error") {
				fine[operator]++
			}
		}
	}
	for _, operator := range expr.Operators() {
		if sourced[operator] {
			fine[operator]++ // its values differ each time: see TestWhatComesFromEnv
		}
		if all[operator] < 3 || fine[operator] < 1 {
			t.Errorf("%s has %d cases, %d of them succeed", operator, all[operator], fine[operator])
		}
	}
}

// sourced are the operators whose value is not made of the document.
var sourced = map[string]bool{"$rand": true, "$currentDate": true, "$createObjectId": true}
