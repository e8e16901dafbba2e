package failures

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/interop/internal/swap"
)

// outcomes returns the outcome of each scene of the output.
func outcomes(output string) map[string]string {
	all := make(map[string]string)
	for line := range strings.Lines(output) {
		rest, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "scene ")
		if name, outcome, isScene := strings.Cut(rest, " => "); ok && isScene {
			all[name] = outcome
		}
	}
	return all
}

// TestSideBySide prints what each client returned. gocb is not judged, but it must have run each scene.
func TestSideBySide(t *testing.T) {
	t.Setenv(printing, "1")
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
	official, ours := outcomes(string(out)), outcomes(swapped)
	fmt.Printf("%-62s %-66s %s\n", "failure", "gocb", "ours")
	for _, s := range scenes {
		fmt.Printf("%-62s %-66s %s\n", s.name, official[s.name], ours[s.name])
		if official[s.name] == "" {
			t.Errorf("%s: gocb printed nothing", s.name)
		}
		if ours[s.name] != s.ours {
			t.Errorf("%s:\n ours %s\n want %s", s.name, ours[s.name], s.ours)
		}
	}
}
