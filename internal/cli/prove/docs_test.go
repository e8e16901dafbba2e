package prove

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// section returns the rest of the guide from a heading on.
func section(t *testing.T, heading string) string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/PROVE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(page), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("there is no section %s", heading)
	}
	return text
}

// rowsOf returns the rows of tables by their first cells.
func rowsOf(text string) map[string][]string {
	rows := make(map[string][]string)
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.Trim(cells[i], " `")
		}
		rows[cells[0]] = cells[1:]
	}
	return rows
}

// The table of the guide has the verdicts that are expected.
func TestTheGuideHasTheExpectedVerdicts(t *testing.T) {
	mongodb, _, _ := strings.Cut(section(t, "MongoDB"), "\n## ")
	rows := rowsOf(mongodb)
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

// The table about the exploration has what the rules say.
func TestTheGuideHasWhatBreaksEachStrategy(t *testing.T) {
	text, _, _ := strings.Cut(section(t, "Every failure at each message"), "\n## ")
	rows := rowsOf(text)
	for _, s := range MongoDB.Strategies() {
		e, messages, broken := exploredExpected[s.Name], 1, "nothing"
		if s.twoSteps {
			messages = 2
		}
		if len(e.extra) > 0 {
			broken = "extra: `" + strings.Join(e.extra, "`, `") + "`"
			broken = strings.ReplaceAll(strings.TrimSuffix(broken, "`"), "`1 ", "`")
		}
		lost := len(e.givenUp)
		want := []string{fmt.Sprint(messages), fmt.Sprint(29 * messages), broken, fmt.Sprint(lost + len(e.failedButApplied)), fmt.Sprint(lost)}
		got := slices.Clone(rows[s.Name])
		if s.twoSteps && len(got) > 2 {
			got[2] = strings.TrimSuffix(got[2], "` at the first step")
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: the row is %q, want %q", s.Name, got, want)
		}
	}
}
