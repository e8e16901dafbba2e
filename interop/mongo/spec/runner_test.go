package spec

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/holdfast-db/holdfast/internal/devtools/spectest"
	"github.com/holdfast-db/holdfast/internal/devtools/spectest/unified"
)

// TestFilesThatMustFail runs the format's own cases that a runner must not let pass.
func TestFilesThatMustFail(t *testing.T) {
	root := spectest.Folder(t)
	accepted := func(result) bool { return true }
	failed := 0
	for _, file := range filesIn(t, root, "unified-test-format/tests/valid-fail") {
		for _, r := range runFile(t, root, file, accepted) {
			if r.outcome() == passes {
				t.Errorf("%s: %s: it passes", r.file, r.name)
			} else if r.outcome() == fails {
				failed++
			}
		}
	}
	if failed < 20 {
		t.Errorf("only %d cases were run", failed)
	}
}

// TestAChangedExpectationFails changes one thing that a passing file expects.
func TestAChangedExpectationFails(t *testing.T) {
	for _, c := range []struct{ name, file, from, to string }{
		{"a result", "crud/tests/unified/updateOne.json", `"modifiedCount": 1`, `"modifiedCount": 2`},
		{"an outcome", "crud/tests/unified/updateOne.json", `"x": 22`, `"x": 23`},
		{"the type of a number in an outcome", "crud/tests/unified/updateOne.json", `"x": 22`, `"x": 22.0`},
		{"a command", "crud/tests/unified/find-allowdiskuse.json", `"allowDiskUse": true`, `"allowDiskUse": false`},
		{"an error's label", "retryable-writes/tests/unified/insertOne-serverErrors.json", `"errorLabelsContain"`, `"errorLabelsOmit"`},
		{"where an error comes from", "unified-test-format/tests/valid-pass/expectedError-isClientError.json", `"isClientError": true`, `"isClientError": false`},
		{"a session", "sessions/tests/driver-sessions-dirty-session-errors.json", `"assertSessionDirty"`, `"assertSessionNotDirty"`},
		{"a pool event", "unified-test-format/tests/valid-pass/entity-client-cmap-events.json", `"connectionReadyEvent"`, `"poolClearedEvent"`},
		{"an argument that there is not", "crud/tests/unified/insertOne.json", `"document":`, `"fantasy": 1, "document":`},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(spectest.Folder(t), filepath.FromSlash(c.file)))
			if err != nil {
				t.Fatal(err)
			}
			at := bytes.LastIndex(text, []byte(c.from))
			if at < 0 {
				t.Fatalf("%s does not contain %s", c.file, c.from)
			}
			changed := slices.Replace(slices.Clone(text), at, at+len(c.from), []byte(c.to)...)
			before, after := outcomes(t, text), outcomes(t, changed)
			if before[passes]+before[fails] == 0 && before[unsupported] > 0 {
				t.Skip("every case of the file needs something that the client lacks")
			}
			if after[fails] <= before[fails] {
				t.Errorf("%d cases failed before the change and %d after it", before[fails], after[fails])
			}
		})
	}
}

// outcomes counts those of a file's cases on a replica set.
func outcomes(t *testing.T, text []byte) map[outcome]int {
	t.Helper()
	f, err := unified.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	counts := make(map[outcome]int)
	for i := range f.Tests {
		r := result{err: runCase(t, f, &f.Tests[i], onReplicaSet(f, &f.Tests[i]))}
		counts[r.outcome()]++
	}
	return counts
}

func TestTheTableIsHeldAgainstTheResults(t *testing.T) {
	apple, pear, plum := errors.New("an apple"), errors.New("a pear"), errors.New("a plum")
	table := []group{
		{"apples", pattern{regexp.MustCompile("apple")}, map[string][]string{"f": {"one", "two"}, "g": {allCases}}},
		{"pears", pattern{regexp.MustCompile("pear")}, map[string][]string{"f": {"four"}}},
	}
	for _, c := range []struct {
		name  string
		r     result
		wrong bool
	}{
		{"a listed case that fails", result{file: "f", name: "one", err: apple}, false},
		{"a listed case that fails for another reason", result{file: "f", name: "one", err: pear}, true},
		{"a listed case that passes", result{file: "f", name: "one", err: nil}, true},
		{"a case that is not listed and fails", result{file: "f", name: "three", err: apple}, true},
		{"a case that is not listed and passes", result{file: "f", name: "three", err: nil}, false},
		{"a listed file with a case that passes", result{file: "g", name: "any", err: nil}, true},
		{"a listed file with a case that fails", result{file: "g", name: "any", err: apple}, false},
		{"a case that needs something that the client lacks", result{file: "f", name: "three", err: &unified.NotSupported{Name: "figs", Err: apple}}, false},
		{"a case that needs something that the client has", result{file: "f", name: "three", err: &unified.NotSupported{Name: "grapes", Err: apple}}, true},
		{"a listed case that needs something that the client lacks", result{file: "f", name: "one", err: &unified.NotSupported{Name: "figs", Err: apple}}, true},
		{"a case that is not run here", result{file: "f", name: "three", err: &unified.Skipped{}}, false},
	} {
		if got := verdict(table, missing{"figs": 1}, c.r) != ""; got != c.wrong {
			t.Errorf("%s: wrong is %t", c.name, got)
		}
	}
	results := []result{{file: "f", name: "one", err: pear}, {file: "f", name: "three", err: apple}, {file: "f", name: "four", err: plum}, {file: "g", name: "any", err: nil}, {file: "g", name: "other", err: apple}}
	if got := unknown(table, results); len(got) != 1 || got[0] != "f: two" {
		t.Errorf("unknown cases: %q", got)
	}
	got := updated(table, results)
	want := []map[string][]string{{"g": {"other"}}, {"f": {"four", "one"}}}
	if len(got) != 2 || !reflect.DeepEqual(got[0].Cases, want[0]) || !reflect.DeepEqual(got[1].Cases, want[1]) {
		t.Errorf("the updated table is %v", got)
	}
}
