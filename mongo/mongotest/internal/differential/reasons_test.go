package differential

import (
	"os"
	"strings"
	"testing"
)

// differencesFile is the one table of what this server answers otherwise than the real one, and goes on doing so: a reason behind
// "#", then the cases, a line each: where the case is, and the command.
const differencesFile = "testdata/differences.txt"

// differenceTable has the reasons by place and command.
type differenceTable struct {
	reasons map[string]string
	used    map[string]bool
}

func readDifferences(t testing.TB) *differenceTable {
	t.Helper()
	text, err := os.ReadFile(differencesFile)
	if err != nil {
		t.Fatal(err)
	}
	table := &differenceTable{make(map[string]string), make(map[string]bool)}
	reason := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		about, isReason := strings.CutPrefix(line, "# ")
		switch {
		case isReason:
			reason = about
		case line == "":
		case reason == "" || table.reasons[line] != "":
			t.Errorf("%s: no reason, or there twice: %s", differencesFile, line)
		default:
			table.reasons[line] = reason
		}
	}
	return table
}

// reason returns why a command is answered otherwise at a place, "" if nobody tells.
func (d *differenceTable) reason(place, command string) string {
	key := place + " " + command
	d.used[key] = true
	return d.reasons[key]
}

// unused fails the test for rows that no difference met.
func (d *differenceTable) unused(t *testing.T) {
	t.Helper()
	for key, reason := range d.reasons {
		if !d.used[key] {
			t.Errorf("%s: no difference: %s (%s)", differencesFile, key, reason)
		}
	}
}
