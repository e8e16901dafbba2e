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
	official, ours := parse(allLines(t)), parse(withOurs(t))
	for range repetitions {
		names := unexplained(official, ours)
		if len(names) == 0 {
			break
		}
		t.Logf("all is printed again, because these differ: %q", names)
		official2, ours2 := parse(withOfficial(t)), parse(withOurs(t))
		for _, name := range names {
			official[name], ours[name] = official2[name], ours2[name]
		}
	}
	compare(t, official, ours)
}

// repetitions is how often all is printed again if there is a difference without a reason. It may come by chance: the situations have
// deadlines, which a client may miss on a busy machine.
const repetitions = 2

func withOurs(t *testing.T) []string {
	t.Helper()
	return linesOf(swap.Ours(t, "^TestPrint$", 6))
}

// withOfficial runs this program again: a situation may be played only once in a process.
func withOfficial(t *testing.T) []string {
	t.Helper()
	return linesOf(swap.Official(t, "^TestPrint$"))
}

func linesOf(out string) (lines []string) {
	for line := range strings.SplitSeq(out, "\n") {
		if line, ok := strings.CutPrefix(line, linePrefix); ok {
			lines = append(lines, line)
		}
	}
	return lines
}

// differing returns in which part a situation differs, and how.
func differing(name, part string, official, ours outcomes) (difference, bool) {
	d := difference{name: name, part: part, official: strings.TrimSuffix(official[name][part], "\n"), ours: strings.TrimSuffix(ours[name][part], "\n")}
	return d, d.official != d.ours
}

// unexplained returns the situations with a difference that has no row.
func unexplained(official, ours outcomes) (names []string) {
	for name := range official {
		if slices.ContainsFunc(parts, func(part string) bool {
			d, differs := differing(name, part, official, ours)
			return differs && !slices.ContainsFunc(differences, d.matches)
		}) {
			names = append(names, name)
		}
	}
	return names
}

func compare(t *testing.T, official, ours outcomes) {
	if len(official) < 5000 || len(official) != len(ours) {
		t.Errorf("%d situations with the official import, %d with ours", len(official), len(ours))
	}
	used := make(map[string]int)
	unexplained := 0
	for name := range official {
		for _, part := range parts {
			d, differs := differing(name, part, official, ours)
			if !differs {
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
