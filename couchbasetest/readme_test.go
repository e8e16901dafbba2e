package couchbasetest

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

func TestTheREADMENamesEveryCommand(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(readme), "## The key-value commands")
	table, _, _ = strings.Cut(table, "\nAll others")
	var got, want []string
	for line := range strings.SplitSeq(table, "\n") {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			got = append(got, regexp.MustCompile(`[A-Z][A-Z_]+`).FindAllString(cells[1], -1)...)
		}
	}
	for op, c := range commands {
		if c != nil {
			want = append(want, memd.Opcode(op).String())
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the README has the commands\n%v, want\n%v", got, want)
	}
}
