package compare

import (
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/interop/internal/swap"
)

// cases returns the outcome of each case of the output.
func cases(t *testing.T, output string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for line := range strings.Lines(output) {
		rest, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "case ")
		name, outcome, isCase := strings.Cut(rest, " => ")
		if !ok || !isCase {
			continue
		}
		if _, twice := all[name]; twice {
			t.Errorf("two cases are called %q", name)
		}
		all[name] = outcome
	}
	return all
}

// row returns the row of the table of differences for a case, or "".
func row(name string) string {
	for prefix := range differences {
		if strings.HasPrefix(name, prefix) {
			return prefix
		}
	}
	return ""
}

func TestBothClientsPrintTheSame(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-v", "-run", "^TestPrint", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("with gocb: %v: %s", err, out)
	}
	swapped, changed, err := swap.Test(t, "-run", "^TestPrint")
	if err != nil {
		t.Fatalf("with our import: %v: %s", err, swapped)
	}
	if changed == 0 {
		t.Fatal("no file has the import of gocb")
	}
	official, ours := cases(t, string(out)), cases(t, swapped)
	if len(official) < 1000 || len(official) != len(ours) {
		t.Fatalf("gocb printed %d cases, our client %d", len(official), len(ours))
	}
	used := make(map[string]bool)
	for _, name := range slices.Sorted(maps.Keys(official)) {
		if official[name] == ours[name] {
			continue
		}
		if r := row(name); r != "" {
			used[r] = true
			if testing.Verbose() { // else they hide what fails
				t.Logf("%s\n gocb %s\n ours %s\n because %s", name, official[name], ours[name], differences[r])
			}
			continue
		}
		t.Errorf("%s\n gocb %s\n ours %s", name, official[name], ours[name])
	}
	for prefix := range differences {
		if !used[prefix] {
			t.Errorf("no case that begins with %q has different outcomes; delete its row", prefix)
		}
	}
}
