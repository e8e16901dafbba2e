package spec

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"testing"
)

// group is a reason for which cases do not pass, and what the text of each such failure must match, so that a reason stays
// true. Files are paths below the suites' folder, with the topology before them; their cases are named as the file does, or
// all at once by "*".
type group struct {
	Reason string              `json:"reason"`
	Error  pattern             `json:"error"`
	Cases  map[string][]string `json:"cases"`
}

// pattern is a regular expression.
type pattern struct{ *regexp.Regexp }

// matches reports whether a failure is of this kind.
func (p pattern) matches(err error) bool { return p.MatchString(err.Error()) }

func (g *group) lists(file, name string) bool {
	return slices.Contains(g.Cases[file], name) || slices.Contains(g.Cases[file], allCases)
}

const allCases = "*"

var update = flag.Bool("update", false, "take the cases that pass now out of "+tableFile+", put those that fail for another known reason there, and count the missing things anew")

func readTable(t *testing.T, file string) []group {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var groups []group
	if err := json.Unmarshal(text, &groups); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return groups
}

// listing returns the group that lists a case, nil if none does.
func listing(groups []group, file, name string) *group {
	for i := range groups {
		if groups[i].lists(file, name) {
			return &groups[i]
		}
	}
	return nil
}

// verdict is the contradiction between a result and the table or the list of missing things; empty if there is none.
func verdict(groups []group, lacks missing, r result) string {
	g, o := listing(groups, r.file, r.name), r.outcome()
	switch {
	case o == passes && g != nil:
		return fmt.Sprintf("it is listed (%s) and passes; -update takes it out", g.Reason)
	case o == unsupported && g != nil:
		return fmt.Sprintf("it is listed (%s) and is not supported; -update takes it out: %v", g.Reason, r.err)
	case o == unsupported && lacks[r.missing()] == 0:
		return fmt.Sprintf("the client is not known to lack this; -update writes it to %s: %v", missingFile, r.err)
	case o == fails && g == nil:
		return r.err.Error()
	case o == fails && !g.Error.matches(r.err):
		return fmt.Sprintf("it is listed (%s) and fails otherwise: %v", g.Reason, r.err)
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

// updated is the table without what passes or is not run, and with each case under the reason that its failure matches; one that
// nothing explains stays where it is. The table never grows: a new failure is somebody's to look at.
func updated(groups []group, results []result) []group {
	to := make([]map[string][]string, len(groups))
	for i := range groups {
		to[i] = make(map[string][]string)
	}
	for _, r := range results {
		was := listing(groups, r.file, r.name)
		if was == nil || r.outcome() != fails {
			continue
		}
		i := slices.IndexFunc(groups, func(g group) bool { return g.Error.matches(r.err) })
		if i < 0 || was.Error.matches(r.err) {
			i = slices.IndexFunc(groups, func(g group) bool { return g.Reason == was.Reason })
		}
		to[i][r.file] = append(to[i][r.file], r.name)
	}
	var left []group
	for i, g := range groups {
		if g.Cases = shortened(to[i], results); len(g.Cases) > 0 {
			left = append(left, g)
		}
	}
	return left
}

// shortened names a file's cases all at once where nothing in it passes and nothing is skipped.
func shortened(cases map[string][]string, results []result) map[string][]string {
	for file, names := range cases {
		all := 0
		for _, r := range results {
			if r.file == file {
				all++
			}
		}
		slices.Sort(names)
		cases[file] = slices.Compact(names)
		if all > 1 && len(cases[file]) == all {
			cases[file] = []string{allCases}
		}
	}
	return cases
}

// writeFile writes one of the tables.
func writeFile(t *testing.T, name string, table any) {
	t.Helper()
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "\t")
	if err := e.Encode(table); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (p pattern) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

func (p *pattern) UnmarshalText(text []byte) (err error) {
	p.Regexp, err = regexp.Compile(string(text))
	return err
}
