package decisions

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/interop/internal/guide"
	"github.com/holdfast-db/holdfast/interop/internal/swap"
)

// TestOurImportDecidesTheSame compares what the program decides with both imports.
func TestOurImportDecidesTheSame(t *testing.T) {
	theirs, ours := decisionsOf(swap.Official(t, "^TestPrint$")), decisionsOf(swap.Ours(t, "^TestPrint$", 2))
	if len(theirs) < 25_000 || len(ours) < 25_000 {
		t.Errorf("%d decisions with the official import, %d with ours", len(theirs), len(ours))
	}
	different := 0
	used := make(map[string]int)
	for name, decision := range theirs {
		if ours[name] == decision {
			continue
		}
		if why := explained(name); why != "" {
			used[why]++
			continue
		}
		different++
		t.Errorf("%s\n\tofficial %s\n\tours     %s", name, decision, ours[name])
	}
	fmt.Printf("figure swapped-decisions-different %d\n", different)
	var whys []string
	for _, d := range differences {
		if used[d.why] == 0 {
			t.Errorf("no decision differs because %s", d.why)
		}
		whys = append(whys, d.why)
	}
	guide.Check(t, "MIGRATION.md", whys)
	t.Logf("differences with a row in the guide: %v", used)
}

// differences are those that a specification or a promise demands. Each has a row in docs/MIGRATION.md.

var differences = []struct {
	why       string
	scenarios *regexp.Regexp
	decisions *regexp.Regexp
}{
	{
		"a network error has the label RetryableWriteError, also of a write that is not retryable (Retryable Writes specification)",
		regexp.MustCompile(`^(UpdateMany|CreateOne|Drop), .*(lost|write concern)`),
		regexp.MustCompile(`^(a switch|label RetryableWriteError|a library, As \*(mongo.CommandError|driver.Error))$`),
	},
	{
		"an error of `CommitTransaction` has the label UnknownTransactionCommitResult also if an earlier attempt, and not the last one, may have committed",
		regexp.MustCompile(`^CommitTransaction, two attempts, lost request, then refused$`),
		regexp.MustCompile(`^(a switch|label UnknownTransactionCommitResult|a library, As \*(mongo.CommandError|driver.Error))$`),
	},
	{
		"the error of a deadline that had passed before the call is exactly `context.DeadlineExceeded`; the official one often wraps it",
		regexp.MustCompile(`, a deadline that has passed$`),
		regexp.MustCompile(`^(== context.DeadlineExceeded|\*net.Error)$`),
	},
	{
		"every command is tried again after an overload (Client Backpressure specification); the official driver does not try `Drop` again",
		regexp.MustCompile(`^Drop, .* overloaded`),
		regexp.MustCompile(``),
	},
}

func explained(name string) string {
	scenario, decision, _ := strings.Cut(name, " | ")
	for _, d := range differences {
		if d.scenarios.MatchString(scenario) && d.decisions.MatchString(decision) {
			return d.why
		}
	}
	return ""
}

// decisionsOf returns the decisions in an output, by the scenario and what is decided.
func decisionsOf(out string) map[string]string {
	decisions := make(map[string]string)
	for line := range strings.SplitSeq(out, "\n") {
		if line, ok := strings.CutPrefix(line, linePrefix); ok {
			name, decision, _ := strings.Cut(line, ": ")
			decisions[name] = decision
		}
	}
	return decisions
}
