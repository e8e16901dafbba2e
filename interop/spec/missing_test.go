package spec

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/holdfast-db/holdfast/internal/spectest/unified"
)

// missing counts the cases that are not there yet, by the name of the first thing that each needs and the client lacks.
type missing map[string]int

func readMissing(t *testing.T) missing {
	t.Helper()
	m := make(missing)
	if missingFile == "" {
		return m
	}
	text, err := os.ReadFile(missingFile)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		t.Fatalf("%s: %v", missingFile, err)
	}
	return m
}

// missingIn counts those of all results.
func missingIn(results []result) missing {
	m := make(missing)
	for _, r := range results {
		if what := r.missing(); what != "" {
			m[what]++
		}
	}
	return m
}

// missing returns the name of what the client lacks; empty if the case failed otherwise, or passes.
func (r result) missing() string {
	lacks := new(unified.NotThereYet)
	if !errors.As(r.err, &lacks) {
		return ""
	}
	return lacks.What
}

// differences are where a run counts otherwise than the file.
func (m missing) differences(counted missing) []string {
	names := make(map[string]bool)
	for _, each := range []missing{m, counted} {
		for name := range each {
			names[name] = true
		}
	}
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if m[name] != counted[name] {
			texts = append(texts, fmt.Sprintf("%s: %d cases need it and were %d; -update writes it to %s", name, counted[name], m[name], missingFile))
		}
	}
	return texts
}
