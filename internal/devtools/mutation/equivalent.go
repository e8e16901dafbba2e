package main

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
)

const (
	equivalentFile = "equivalent.txt"
	mostEquivalent = 10
	outside        = "-" // the function of a line outside of functions
)

// equivalence is a line with the mutants of it that no test can notice, because they do what the code does.
type equivalence struct {
	file, function, line, proof string
	mutants                     []string
}

type equivalences []equivalence

// readEquivalent reads the table: paragraphs of the lines "file:", "function:", "line:", one "mutant:" or several (without
// a text if the statement is removed) and "proof:". A line that begins with # is a comment.
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
		e, err := parseEntry(paragraph)
		if err != nil {
			return nil, err
		}
		if e != nil {
			all = append(all, *e)
		}
	}
	if len(all) > mostEquivalent {
		return nil, fmt.Errorf("%s has %d entries; it may have %d", equivalentFile, len(all), mostEquivalent)
	}
	return all, nil
}

// parseEntry returns nil for a paragraph of comments.
func parseEntry(paragraph string) (*equivalence, error) {
	var e equivalence
	fields := map[string]*string{"file": &e.file, "function": &e.function, "line": &e.line, "proof": &e.proof}
	given := false
	for line := range strings.Lines(paragraph) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		given = true
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		if name == "mutant" {
			e.mutants = append(e.mutants, value)
		} else if field := fields[name]; field != nil {
			*field = value
		} else {
			return nil, fmt.Errorf("%s: %q is not one of file, function, line, mutant and proof", equivalentFile, name)
		}
	}
	switch {
	case !given:
		return nil, nil
	case e.file == "" || e.function == "" || e.line == "" || e.proof == "" || len(e.mutants) == 0:
		return nil, fmt.Errorf("%s: an entry needs file, function, line, mutant and proof: %q", equivalentFile, paragraph)
	}
	return &e, nil
}

func (e equivalence) has(m *mutant) bool {
	return slices.ContainsFunc(e.mutants, func(mutant string) bool { return e.is(m, mutant) })
}

func (e equivalence) is(m *mutant, line string) bool {
	before, after := m.lines()
	return m.file.name == e.file && (m.function == e.function || m.function == "" && e.function == outside) && before == e.line && after == line
}

// check refuses an entry of one of the packages that is no mutant of its code as it is now.
func (all equivalences) check(sources []*source) error {
	sites := sitesOf(sources)
	for _, e := range all {
		if !slices.ContainsFunc(sources, func(s *source) bool { return s.path == e.in() }) {
			continue
		}
		for _, line := range e.mutants {
			among := func(s site) bool {
				return slices.ContainsFunc(s.mutants, func(m *mutant) bool { return e.is(m, line) })
			}
			if !slices.ContainsFunc(sites, among) {
				return fmt.Errorf("%s: there is no mutant %q of the line %q in %s of %s", equivalentFile, line, e.line, e.function, e.file)
			}
		}
	}
	return nil
}

// in returns the package of the entry's file.
func (e equivalence) in() string { return "./" + path.Dir(e.file) }

// without returns the sites without the mutants that are listed.
func (all equivalences) without(sites []site) []site {
	var kept []site
	for _, s := range sites {
		mutants := slices.DeleteFunc(slices.Clone(s.mutants), func(m *mutant) bool {
			return slices.ContainsFunc(all, func(e equivalence) bool { return e.has(m) })
		})
		if len(mutants) > 0 {
			kept = append(kept, site{key: s.key, mutants: mutants})
		}
	}
	return kept
}
