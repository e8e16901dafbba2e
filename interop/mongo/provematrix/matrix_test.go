package provematrix

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/internal/cli/prove"
)

// defects are what the official driver is known to return to the application where its specifications say that it
// is to try again, by a part of the error's text. They come by chance: an operation must need a new connection, or lose
// its pool, in the instant of a failure. The package failures shows each of them on purpose.
var defects = []struct{ text, name string }{
	{"error occurred during connection handshake", "an error in the handshake of the first attempt is not retried"},
	{"connection pool for", "a pool that was cleared between selection and checkout is not retried"},
}

// defectOf returns the defect that explains the unexpected verdict of a cell: each example of an operation that is
// missing or misreported, where none may be, met it. It returns "" if anything else is unexpected.
func defectOf(r *prove.Result) string {
	unexpected := r.Verdict &^ (r.Expected.Must | r.Expected.May)
	if r.NotShown != "" || r.Error != "" || unexpected&^(prove.UnderCounts|prove.Misreports) != 0 || r.Verdict&r.Expected.Must != r.Expected.Must {
		return ""
	}
	name := ""
	for _, e := range r.Examples {
		if e.Flaw != prove.FlawMissing && e.Flaw != prove.FlawMisreported {
			continue
		}
		if name = defectIn(e.String()); name == "" {
			return ""
		}
	}
	return name
}

func defectIn(text string) string {
	for _, d := range defects {
		if strings.Contains(text, d.text) {
			return d.name
		}
	}
	return ""
}

// TestMatrix runs the whole matrix with both drivers on replica sets over TCP. Ours must be as expected in every cell; the
// official driver must agree, or the difference be a defect that is named here.
func TestMatrix(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes two minutes")
	}
	ours := run(t, "ours", prove.Default())
	official := run(t, "official", Official)
	repeat(t, official)
	var table strings.Builder
	fmt.Fprintf(&table, "%-18s %-16s %-28s %s\n", "failure", "strategy", "official", "ours")
	agreed, unexplained := 0, 0
	for i := range ours.Results {
		a, b := &official.Results[i], &ours.Results[i]
		fmt.Fprintf(&table, "%-18s %-16s %-28s %s\n", b.Failure, b.Strategy, shown(a), shown(b))
		if !b.AsExpected() {
			t.Errorf("ours, %s/%s: %s; expected: %v", b.Strategy, b.Failure, shown(b), b.Expected)
		}
		if a.AsExpected() {
			agreed++
			continue
		}
		why := defectOf(a)
		if why == "" {
			unexplained++
			t.Errorf("official, %s/%s: %s; expected: %v; %+v", b.Strategy, b.Failure, shown(a), a.Expected, a.Counts)
			for _, e := range a.Examples {
				t.Logf("example: %+v", e)
			}
			continue
		}
		fmt.Fprintf(&table, "%-18s a defect of the official driver: %s\n", "", why)
	}
	fmt.Print(table.String())
	fmt.Printf("figure prove-official-agrees %d\n", agreed)
	fmt.Printf("figure prove-official-unexplained %d\n", unexplained)
}

// shown is what a cell has shown, in a few words.
func shown(r *prove.Result) string {
	switch {
	case r.Unavailable != "":
		return "n/a, " + r.Unavailable
	case r.Error != "":
		return "failed: " + r.Error
	case r.NotShown != "":
		return "not shown: " + r.NotShown
	default:
		return r.Verdict.String()
	}
}

func run(t *testing.T, name string, dial prove.Dial) *prove.Report {
	t.Helper()
	report := runCells(t, dial, prove.MongoDB.Strategies(), prove.MongoDB.Failures())
	t.Logf("%s: %v", name, report.Took)
	return report
}

func runCells(t *testing.T, dial prove.Dial, strategies []prove.Strategy, failures []prove.Failure) *prove.Report {
	t.Helper()
	settings := prove.MongoDB.DefaultSettings()
	settings.RunsAlone = 9 // of a cell that the machine disturbs: each needs a verdict here
	report, err := prove.Matrix{
		Strategies: strategies, Failures: failures, Settings: settings, Dial: dial, Deployment: prove.TCP(),
	}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// repetitions is how often a cell of the official driver is run again that did not end.
const repetitions = 3

// repeat runs the cells of the official driver again that did not end: on a busy machine its operations may take too long for that.
func repeat(t *testing.T, report *prove.Report) {
	t.Helper()
	for i := range report.Results {
		r := &report.Results[i]
		for n := 0; n < repetitions && r.Error != ""; n++ {
			t.Logf("official, %s/%s is run again: %s", r.Strategy, r.Failure, r.Error)
			again := runCells(t, Official,
				slices.DeleteFunc(prove.MongoDB.Strategies(), func(s prove.Strategy) bool { return s.Name != r.Strategy }),
				slices.DeleteFunc(prove.MongoDB.Failures(), func(f prove.Failure) bool { return f.Name != r.Failure }))
			*r = again.Results[0]
		}
	}
}
