package expr

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTheREADMEListsWhatThereIs compares the table of the package that users see with what this one knows.
func TestTheREADMEListsWhatThereIs(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	accumulators := slices.Sorted(slices.Values(Accumulators()))
	for prefix, want := range map[string][]string{
		"| expressions | `": Operators(), "| accumulators | `": accumulators, "Refused by name: `": Unsupported(),
	} {
		_, rest, found := strings.Cut(string(text), prefix)
		list, _, _ := strings.Cut(rest, "`")
		if got := regexp.MustCompile(`\$\w+`).FindAllString(list, -1); !found || !slices.Equal(got, want) {
			t.Errorf("behind %q the README has\n%v\nwhat there is:\n%v", prefix, got, want)
		}
	}
}
