package differential

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// suitePlace is what places in the published suites begin with.
const suitePlace = "suites/"

// differencesFile is the one table of what this server answers otherwise than the real one, and goes on doing so: a reason behind
// "#", then the cases, a line each: where the case is, and the command.
const differencesFile = "testdata/differences.txt"

// differenceTable has the reasons by place and command.
type differenceTable struct {
	lines   []string
	reasons map[string]string
	used    map[string]bool
}

func readDifferences(t testing.TB) *differenceTable {
	t.Helper()
	text, err := os.ReadFile(differencesFile)
	if err != nil {
		t.Fatal(err)
	}
	table, err := parseDifferences(string(text))
	if err != nil {
		t.Error(err)
	}
	return table
}

func parseDifferences(text string) (*differenceTable, error) {
	table := &differenceTable{reasons: make(map[string]string), used: make(map[string]bool)}
	var wrong []error
	reason := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		table.lines = append(table.lines, line)
		about, isReason := strings.CutPrefix(line, "# ")
		switch {
		case isReason:
			reason = about
		case line == "":
		case reason == "" || table.reasons[line] != "":
			wrong = append(wrong, fmt.Errorf("%s: no reason, or there twice: %s", differencesFile, line))
		default:
			table.reasons[line] = reason
		}
	}
	return table, errors.Join(wrong...)
}

// reason returns why a command is answered otherwise at a place, "" if the table has none.
func (d *differenceTable) reason(place, command string) string {
	key := place + " " + command
	d.used[key] = true
	return d.reasons[key]
}

// unused are the rows of some places that no difference met.
func (d *differenceTable) unused(asked func(place string) bool) []string {
	var rows []string
	for _, line := range d.lines {
		place, _, _ := strings.Cut(line, " ")
		if d.reasons[line] != "" && !d.used[line] && asked(place) {
			rows = append(rows, line)
		}
	}
	return rows
}

// write leaves out rows, and reasons that have none left.
func (d *differenceTable) write(t *testing.T, without []string) {
	t.Helper()
	var b strings.Builder
	reason := ""
	for _, line := range d.lines {
		switch {
		case strings.HasPrefix(line, "# "):
			reason = line + "\n"
		case line != "" && !slices.Contains(without, line):
			if strings.HasPrefix(reason, "#") && b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(reason + line + "\n")
			reason = ""
		}
	}
	if err := os.WriteFile(differencesFile, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}
