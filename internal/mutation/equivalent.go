package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

const (
	equivalentFile = "equivalent.txt"
	mostEquivalent = 10
)

// equivalence is a mutant that no test can notice, because it does what the code does.
type equivalence struct {
	file, line, mutant, proof string
}

type equivalences []equivalence

// readEquivalent reads the table: paragraphs of lines "file:", "line:", "mutant:" (without a text if the statement is
// removed) and "proof:". What begins with # is a comment.
func readEquivalent(name string) (equivalences, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return parseEquivalent(string(text))
}

func parseEquivalent(text string) (equivalences, error) {
	var all equivalences
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		var e equivalence
		fields := map[string]*string{"file": &e.file, "line": &e.line, "mutant": &e.mutant, "proof": &e.proof}
		given := 0
		for line := range strings.Lines(paragraph) {
			if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
				continue
			}
			name, value, _ := strings.Cut(line, ":")
			field := fields[name]
			if field == nil {
				return nil, fmt.Errorf("%s: %q is not one of file, line, mutant and proof", equivalentFile, name)
			}
			*field = strings.TrimSpace(value)
			given++
		}
		if given == 0 {
			continue
		}
		if given != len(fields) || e.file == "" || e.line == "" || e.proof == "" {
			return nil, fmt.Errorf("%s: an entry needs file, line, mutant and proof: %q", equivalentFile, paragraph)
		}
		all = append(all, e)
	}
	if len(all) > mostEquivalent {
		return nil, fmt.Errorf("%s has %d entries; it may have %d", equivalentFile, len(all), mostEquivalent)
	}
	return all, nil
}

func (e equivalence) is(m *mutant) bool {
	before, after := m.lines()
	return m.file.name == e.file && before == e.line && after == e.mutant
}

// check refuses an entry that is no mutant of the code as it is now.
func (all equivalences) check(sites []site) error {
	for _, e := range all {
		if !slices.ContainsFunc(sites, func(s site) bool { return slices.ContainsFunc(s.mutants, e.is) }) {
			return fmt.Errorf("%s: there is no mutant %q of the line %q in %s", equivalentFile, e.mutant, e.line, e.file)
		}
	}
	return nil
}

// without returns the sites without the mutants that are listed.
func (all equivalences) without(sites []site) []site {
	var kept []site
	for _, s := range sites {
		mutants := slices.DeleteFunc(slices.Clone(s.mutants), func(m *mutant) bool {
			return slices.ContainsFunc(all, func(e equivalence) bool { return e.is(m) })
		})
		if len(mutants) > 0 {
			kept = append(kept, site{key: s.key, mutants: mutants})
		}
	}
	return kept
}
