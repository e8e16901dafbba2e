package spec

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/holdfast-db/holdfast/internal/devtools/spectest/unified"
)

// tally counts the outcomes of one suite.
type tally struct {
	passed  int
	reasons map[string]int // of the cases that were not run or do not pass
}

// report is the outcome of all suites.
type report struct {
	suites   map[string]*tally
	outcomes map[outcome]int
	runs     int // of the cases that pass, on all their versions
}

// reportOf counts results. The table has the reasons of the cases that fail.
func reportOf(table []group, results []result) *report {
	r := &report{suites: make(map[string]*tally), outcomes: make(map[outcome]int)}
	for _, suite := range suites {
		r.suites[suite] = &tally{reasons: make(map[string]int)}
	}
	for _, each := range results {
		suite := r.suites[suites[slices.IndexFunc(suites, each.of)]]
		r.outcomes[each.outcome()]++
		if each.outcome() == passes {
			suite.passed++
			r.runs += each.runs
		} else {
			suite.reasons[each.reason(table)]++
		}
	}
	return r
}

// reason returns why a case does not pass.
func (r result) reason(table []group) string {
	skip := new(unified.Skipped)
	if errors.As(r.err, &skip) {
		return "by the file's own word: " + skip.Reason
	}
	if name := r.missing(); name != "" {
		return "the client has no " + name
	}
	if g := listing(table, r.file, r.name); g != nil {
		return g.Reason
	}
	return "not listed"
}

// print writes a line for each suite, with a line below it for each reason, the most frequent first.
func (r *report) print(w io.Writer) {
	for _, suite := range suites {
		t := r.suites[suite]
		skipped := 0
		for _, n := range t.reasons {
			skipped += n
		}
		fmt.Fprintf(w, "suite %s: %d passed, %d skipped\n", suite, t.passed, skipped)
		byCount := func(a, b string) int { return cmp.Or(cmp.Compare(t.reasons[b], t.reasons[a]), cmp.Compare(a, b)) }
		for _, reason := range slices.SortedFunc(maps.Keys(t.reasons), byCount) {
			fmt.Fprintf(w, "    %4d: %s\n", t.reasons[reason], reason)
		}
	}
	fmt.Fprintf(w, "not run, by the files' own word: %d; those that pass were run %d times on their versions\n", r.outcomes[skipped], r.runs)
	r.printFigures(w)
}

func (r *report) printFigures(w io.Writer) {
	passed, lacking, listed := r.outcomes[passes], r.outcomes[unsupported], r.outcomes[fails]
	fmt.Fprintf(w, "figure spec-%s-passed %d\n", clientName, passed)
	fmt.Fprintf(w, "figure spec-%s-listed %d\n", clientName, listed)
	if missingFile != "" {
		fmt.Fprintf(w, "figure spec-%s-not-there-yet %d\n", clientName, lacking)
		fmt.Fprintf(w, "figure spec-passed %d\n", passed)
		fmt.Fprintf(w, "figure spec-skipped %d\n", lacking+listed)
	}
}
