package spec

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
)

// group is a reason for which cases do not pass. Files are paths below the suites' folder, with the topology before them;
// their cases are named as the file does, or all at once by "*".
type group struct {
	Reason string              `json:"reason"`
	Cases  map[string][]string `json:"cases"`
}

const tableFile = "expected.json"

func readTable(t *testing.T) []group {
	t.Helper()
	text, err := os.ReadFile(tableFile)
	if err != nil {
		t.Fatal(err)
	}
	var groups []group
	if err := json.Unmarshal(text, &groups); err != nil {
		t.Fatalf("%s: %v", tableFile, err)
	}
	return groups
}

// reasonOf returns why a case does not pass; empty if it is not listed.
func reasonOf(groups []group, file, name string) string {
	for _, g := range groups {
		if cases := g.Cases[file]; slices.Contains(cases, name) || slices.Contains(cases, "*") {
			return g.Reason
		}
	}
	return ""
}

// result is what became of one case on one topology.
type result struct {
	file, name string
	err        error
}

// unknown returns the entries of the table that name no case that was run.
func unknown(groups []group, results []result) []string {
	var names []string
	for _, g := range groups {
		for file, cases := range g.Cases {
			for _, name := range cases {
				if !slices.ContainsFunc(results, func(r result) bool { return r.file == file && (r.name == name || name == "*") }) {
					names = append(names, file+": "+name)
				}
			}
		}
	}
	slices.Sort(names)
	return names
}
