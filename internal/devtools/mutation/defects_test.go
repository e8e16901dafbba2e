package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTheDefectsCanBeWritten makes sure that the text which each defect changes is still there.
func TestTheDefectsCanBeWritten(t *testing.T) {
	changed, err := withDefects("../../..")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for name, text := range changed {
		switches := regexp.MustCompile(`defect\.On\(defect\.(\w+)\)`).FindAllSubmatch(text, -1)
		if len(switches) == 0 {
			t.Errorf("%s has no switch", name)
		}
		for _, s := range switches {
			all = append(all, string(s[1]))
		}
	}
	text, err := os.ReadFile("../defect/defect.go")
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, n := range regexp.MustCompile(`(?m)^\t([A-Z]\w+)(?: Name = iota.*)?$`).FindAllSubmatch(text, -1) {
		named = append(named, string(n[1]))
	}
	slices.Sort(all)
	slices.Sort(named)
	if got, want := strings.Join(slices.Compact(all), " "), strings.Join(named, " "); got != want {
		t.Errorf("there are switches for\n%s\nwant\n%s", got, want)
	}
}

func TestADefectWhoseTextIsGoneIsAnError(t *testing.T) {
	old := edits
	defer func() { edits = old }()
	for _, before := range []string{"a text that is not there", "{"} {
		edits = []edit{{"internal/devtools/mutation/main.go", before, ""}}
		if _, err := withDefects("../../.."); err == nil || !strings.Contains(err.Error(), before) {
			t.Errorf("%q: %v", before, err)
		}
	}
}
