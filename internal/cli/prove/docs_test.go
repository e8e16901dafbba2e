package prove

import (
	"os"
	"strings"
	"testing"
)

// The table of the guide has the verdicts that are expected.
func TestTheGuideHasTheExpectedVerdicts(t *testing.T) {
	page, err := os.ReadFile("../../../docs/PROVE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, mongodb, found := strings.Cut(string(page), "\n## MongoDB\n")
	if !found {
		t.Fatal("there is no section about MongoDB")
	}
	rows := make(map[string][]string)
	for line := range strings.Lines(mongodb) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.Trim(cells[i], " `")
		}
		rows[cells[0]] = cells[1:]
	}
	strategies := MongoDB.Strategies()
	for i, s := range strategies {
		if got := rows["failure"]; len(got) != len(strategies)+1 || got[i+1] != s.Name {
			t.Fatalf("the columns are %v", got)
		}
		if len(rows[s.Name]) != 1 || rows[s.Name][0] == "" {
			t.Errorf("%s is not explained", s.Name)
		}
		for _, f := range MongoDB.Failures() {
			if row, want := rows[f.Name], MongoDB.expect(s, f, Majority).Must.String(); len(row) != len(strategies)+1 || row[i+1] != want {
				t.Errorf("%s, %s: the row is %q, want %q", f.Name, s.Name, row, want)
			}
		}
	}
}
