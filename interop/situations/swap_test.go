package situations

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/interop/internal/guide"
	"github.com/holdfast-db/holdfast/interop/internal/swap"
)

// outcomes are the lines of each situation, by the situation's name and the part.
type outcomes map[string]map[string]string

func parse(lines []string) outcomes {
	out := make(outcomes)
	for _, line := range lines {
		name, rest, _ := strings.Cut(line, " | ")
		part, value, _ := strings.Cut(rest, ": ")
		if out[name] == nil {
			out[name] = make(map[string]string)
		}
		out[name][part] += value + "\n"
	}
	return out
}

// TestOurImportPrintsTheSame compares what the situations print with both imports. Each difference needs a row of differences.
func TestOurImportPrintsTheSame(t *testing.T) {
	lines := allLines(t)
	out, changed, err := swap.Test(t, "-run", "^TestPrint$")
	if err != nil || changed < 6 {
		t.Fatalf("%d files were changed; %v\n%s", changed, err, out[max(0, len(out)-2000):])
	}
	var ours []string
	for line := range strings.SplitSeq(out, "\n") {
		if line, ok := strings.CutPrefix(line, linePrefix); ok {
			ours = append(ours, line)
		}
	}
	compare(t, parse(lines), parse(ours))
}

func compare(t *testing.T, official, ours outcomes) {
	if len(official) < 5000 || len(official) != len(ours) {
		t.Errorf("%d situations with the official import, %d with ours", len(official), len(ours))
	}
	used := make(map[string]int)
	unexplained := 0
	for name, theirs := range official {
		for _, part := range parts {
			d := difference{name: name, part: part, official: strings.TrimSuffix(theirs[part], "\n"), ours: strings.TrimSuffix(ours[name][part], "\n")}
			if d.official == d.ours {
				continue
			}
			if i := slices.IndexFunc(differences, d.matches); i >= 0 {
				used[differences[i].why]++
				continue
			}
			if unexplained++; unexplained <= 40 {
				t.Errorf("%s: the %s differs\n\tofficial %s\tours     %s", name, part, d.official, d.ours)
			}
		}
	}
	for _, d := range differences {
		t.Logf("%5d %s", used[d.why], d.why)
		if used[d.why] == 0 {
			t.Errorf("there is no difference any more: %s", d.why)
		}
	}
	t.Logf("%d situations", len(official))
	fmt.Printf("figure dropin-situations %d\nfigure dropin-unexplained %d\n", len(official), unexplained)
}

func TestTheGuideHasEachReason(t *testing.T) {
	var reasons []string
	for _, d := range differences {
		reasons = append(reasons, d.why)
	}
	guide.Check(t, "MIGRATION.md", reasons)
}
