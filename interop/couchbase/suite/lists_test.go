package suite

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// outcome is how a test ended, or is listed to end.
type outcome string

const (
	pass   outcome = "pass"
	fail   outcome = "fail"
	skip   outcome = "skip"
	either outcome = "pass or fail"
)

// expectation is a line of the lists.
type expectation struct {
	outcome  outcome
	reason   string // "" for a test that passes
	byChance bool   // it passes, but sometimes only when it is run again
}

// expectations reads the lists: the names of the tests that pass, those of transactions', and the others with their outcome and the
// reason for it.
func expectations(t *testing.T) map[string]expectation {
	t.Helper()
	expected := make(map[string]expectation)
	add := func(test string, e expectation) {
		if _, twice := expected[test]; twice {
			t.Errorf("the test %s is listed twice", test)
		}
		expected[test] = e
	}
	for _, line := range lines(t, "testdata/passing.txt") {
		test, reason, byChance := strings.Cut(line, "\t")
		add(test, expectation{outcome: pass, reason: reason, byChance: byChance})
	}
	for _, test := range lines(t, "testdata/transactions.txt") {
		add(test, expectation{outcome: skip, reason: "transactions are not served"})
	}
	for _, line := range lines(t, "testdata/others.txt") {
		fields := strings.Split(line, "\t")
		if len(fields) != 3 || !slices.Contains([]outcome{fail, skip, either}, outcome(fields[1])) || fields[2] == "" {
			t.Errorf("testdata/others.txt: the line %q is not a test, %q, %q or %q, and a reason, with tabs between them", line, fail, skip, either)
			continue
		}
		add(fields[0], expectation{outcome: outcome(fields[1]), reason: fields[2]})
	}
	return expected
}

// lines returns the lines of a file that are neither empty nor comments.
func lines(t *testing.T, name string) (list []string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			list = append(list, line)
		}
	}
	return list
}
