package spec

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/holdfast-db/holdfast/internal/devtools/spectest/unified"
)

// missing counts the unsupported cases, by the first method or option that each needs and the client lacks.
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

// missingIn counts them in the results of a run.
func missingIn(results []result) missing {
	m := make(missing)
	for _, r := range results {
		if name := r.missing(); name != "" {
			m[name]++
		}
	}
	return m
}

// missing returns the name of the method or option that the client lacks; empty if the case passes or fails for another reason.
func (r result) missing() string {
	lacks := new(unified.NotSupported)
	if !errors.As(r.err, &lacks) {
		return ""
	}
	return lacks.Name
}

// differences returns a text for each name that a run counted otherwise.
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
