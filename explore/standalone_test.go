package explore_test

import (
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/explore"
)

// A standalone never says that it is no primary, and has no other member that could acknowledge a write.
func TestAStandaloneHasNoFailureOfASet(t *testing.T) {
	report, text := explore.Report(t, "", addOnce, explore.InMemory(), explore.Standalone())
	for _, o := range report.Outcomes {
		for _, never := range []string{"step-down", "killed-during", "partitioned", "write-concern", "error-134", "error-189", "error-10107", "error-13435", "error-13436"} {
			if strings.Contains(o.Case.String(), never) {
				t.Errorf("%s: %s", o.Case, text)
			}
		}
	}
	if len(report.Outcomes) < 15 || report.Failing() {
		t.Error(text)
	}
}

// A late request whose server has died meanwhile is never delivered, and the story says so.
func TestALateRequestToADeadServer(t *testing.T) {
	report, text := explore.Report(t, "update/shop.counters/1:late-request+update/shop.counters/2:killed-before", addOnce, explore.InMemory())
	if len(report.Outcomes) != 1 || len(report.Outcomes[0].Events) == 0 {
		t.Fatal(text)
	}
	if words := report.Outcomes[0].Events[0].Words; words != "never delivered, because its server had died" {
		t.Errorf("it is told as %q", words)
	}
}
