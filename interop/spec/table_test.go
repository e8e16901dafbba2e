package spec

import (
	"bytes"
	"encoding/json"
	"flag"
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

const (
	tableFile = "expected.json"
	allCases  = "*"
)

var update = flag.Bool("update", false, "take the cases that pass now out of "+tableFile)

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
		if cases := g.Cases[file]; slices.Contains(cases, name) || slices.Contains(cases, allCases) {
			return g.Reason
		}
	}
	return ""
}

// unknown returns the entries of the table that name no case that was run.
func unknown(groups []group, results []result) []string {
	var names []string
	for _, g := range groups {
		for file, cases := range g.Cases {
			for _, name := range cases {
				if !slices.ContainsFunc(results, func(r result) bool { return r.file == file && (r.name == name || name == allCases) }) {
					names = append(names, file+": "+name)
				}
			}
		}
	}
	slices.Sort(names)
	return names
}

// shrunk is the table without what passes or is not run. It never grows: a new failure is somebody's to look at.
func shrunk(groups []group, results []result) []group {
	var left []group
	for _, g := range groups {
		cases := make(map[string][]string)
		for file, names := range g.Cases {
			if failing := failingOf(names, file, results); len(failing) > 0 {
				cases[file] = failing
			}
		}
		if len(cases) > 0 {
			left = append(left, group{g.Reason, cases})
		}
	}
	return left
}

// failingOf returns those of a file's listed names that still fail; "*" stays if nothing in the file passes.
func failingOf(names []string, file string, results []result) []string {
	var failing []string
	pass := false
	for _, r := range results {
		if r.file != file || r.outcome() == skipped {
			continue
		}
		pass = pass || r.outcome() == passes
		if r.outcome() == fails && (slices.Contains(names, r.name) || slices.Contains(names, allCases)) {
			failing = append(failing, r.name)
		}
	}
	if slices.Contains(names, allCases) && !pass && len(failing) > 0 {
		return []string{allCases}
	}
	slices.Sort(failing)
	return slices.Compact(failing)
}

func writeTable(t *testing.T, groups []group) {
	t.Helper()
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "\t")
	if err := e.Encode(groups); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(tableFile, text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
