package failover

import (
	"flag"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/interop/internal/swap"
)

// slack is what a median may be of its bar before the test fails: the bar is for a machine that does nothing else.
const slack = 5

// medians returns the median of each figure's samples, in milliseconds.
func medians(t *testing.T, output string) map[string]float64 {
	t.Helper()
	samples := make(map[string][]float64)
	for line := range strings.Lines(output) {
		var figure string
		var took time.Duration
		if n, _ := fmt.Sscanf(line, "sample %s %d", &figure, &took); n == 2 {
			samples[figure] = append(samples[figure], float64(took)/float64(time.Millisecond))
		}
	}
	all := make(map[string]float64)
	for _, s := range scenarios {
		if len(samples[s.figure]) != *runs {
			t.Fatalf("%s has %d samples, want %d", s.figure, len(samples[s.figure]), *runs)
		}
		slices.Sort(samples[s.figure])
		all[s.figure] = (samples[s.figure][(*runs-1)/2] + samples[s.figure][*runs/2]) / 2
	}
	return all
}

// runs is how often each scenario is run with each client. The figures are medians of 20; a test of the whole module makes fewer.
var runs = flag.Int("runs", 4, "how often each scenario is run")

// TestRecovery prints the medians of both clients, and judges ours.
func TestRecovery(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures times on the real clock")
	}
	if *runs < 1 {
		t.Fatalf("-runs is %d; it must be at least 1", *runs)
	}
	t.Setenv(printing, strconv.Itoa(*runs))
	out, err := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-v", "-run", "^TestPrint$", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("with gocb: %v: %s", err, out)
	}
	swapped, changed, err := swap.Test(t, "-run", "^TestPrint$")
	if err != nil {
		t.Fatalf("with our import: %v: %s", err, swapped)
	}
	if changed == 0 {
		t.Fatal("no file has the import of gocb")
	}
	official, ours := medians(t, string(out)), medians(t, swapped)
	fmt.Printf("%-68s %10s %10s\n", fmt.Sprintf("ms, median of %d", *runs), "gocb", "ours")
	for _, s := range scenarios {
		fmt.Printf("%-68s %10.2f %10.2f\n", s.name, official[s.figure], ours[s.figure])
		fmt.Printf("figure cb-%s %.2f\n", s.figure, ours[s.figure])
		fmt.Printf("figure gocb-%s %.2f\n", s.figure, official[s.figure])
		if ours[s.figure] > slack*s.bar {
			t.Errorf("%s: %.2f ms, which is more than %d times the bar, %v ms", s.name, ours[s.figure], slack, s.bar)
		}
	}
}
