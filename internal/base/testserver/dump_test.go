package testserver_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/internal/base/testserver"
)

type entry int

func (e *entry) String() string { return "entry " + strconv.Itoa(int(*e)) }

func TestADumpHasTheNewestEntries(t *testing.T) {
	var journal []entry
	for i := range 2003 {
		journal = append(journal, entry(i))
	}
	for _, c := range []struct {
		from, lines int
		first       string
	}{
		{2003, 0, ""},
		{2000, 3, "entry 2000"},
		{3, 2000, "entry 3"},
		{0, 2001, "3 older entries of the journal are left out"},
	} {
		var b strings.Builder
		testserver.DumpEntries(&b, journal[c.from:])
		lines := strings.SplitAfter(b.String(), "\n")
		if len(lines)-1 != c.lines || strings.TrimSuffix(lines[0], "\n") != c.first {
			t.Errorf("from %d: %d lines, the first is %q", c.from, len(lines)-1, lines[0])
		}
		if c.lines > 0 && lines[c.lines-1] != "entry 2002\n" {
			t.Errorf("from %d: the last line is %q", c.from, lines[c.lines-1])
		}
	}
}
