package paint

import (
	"strings"
	"testing"
)

func TestATextIsColouredOnlyIfPaintIsOn(t *testing.T) {
	if got := (Paint{}).With(Bad, "x  \ny"); got != "x  \ny" {
		t.Errorf("%q", got)
	}
	if got := (Paint{On: true}).With(Bad, "x  \ny"); got != "\x1b[31mx\x1b[m\n\x1b[31my\x1b[m" {
		t.Errorf("%q", got)
	}
}

func TestEachLineHasTheIndentAndFits(t *testing.T) {
	text := strings.Repeat("a word ", 20)
	for _, columns := range []int{0, 19, 30, 80} {
		got := Indented(text, "  ", columns)
		if !strings.HasSuffix(got, "\n") || strings.Join(strings.Fields(got), " ") != strings.TrimSpace(text) {
			t.Errorf("%d columns: %q", columns, got)
		}
		for line := range strings.Lines(got) {
			if line = strings.TrimSuffix(line, "\n"); !strings.HasPrefix(line, "  a") && !strings.HasPrefix(line, "  w") || len(line) > max(columns, leastColumns+2) || strings.HasSuffix(line, " ") {
				t.Errorf("%d columns: the line %q", columns, line)
			}
		}
	}
}
