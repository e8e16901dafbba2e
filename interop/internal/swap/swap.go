// Package swap runs a package's tests with another import: that of an official client is replaced by ours. Nothing else is changed.
package swap

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	// The tests run our clients in a process of their own. Without these imports the go command would take their results from its cache
	// after a change of the product.
	_ "github.com/holdfast-db/holdfast/couchbase"
	_ "github.com/holdfast-db/holdfast/mongo"
)

// imports has the imports of the official clients, and ours in their places.
var imports = strings.NewReplacer(
	`"go.mongodb.org/mongo-driver/v2/mongo"`, `"github.com/holdfast-db/holdfast/mongo"`,
	`"github.com/couchbase/gocb/v2"`, `"github.com/holdfast-db/holdfast/couchbase"`,
	`"github.com/couchbase/gocb/v2/`, `"github.com/holdfast-db/holdfast/couchbase/`,
)

// Test runs "go test -v" on the package in the working folder with our import, and with further arguments. It returns the output and
// the number of files that were changed, those of a folder "calls" among them. Files whose names begin with "swap" stay as they are. The
// build tag "ours" is set, for the few lines that need another text.
func Test(t *testing.T, arguments ...string) (output string, changed int, err error) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		return "", 0, err
	}
	calls, err := filepath.Glob("calls/*.go")
	if err != nil {
		return "", 0, err
	}
	files = append(files, calls...)
	replaced := make(map[string]string)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", 0, err
		}
		ours := imports.Replace(string(text))
		if strings.HasPrefix(file, "swap") || ours == string(text) {
			continue
		}
		path := filepath.Join(t.TempDir(), filepath.Base(file))
		if err := os.WriteFile(path, []byte(ours), 0o600); err != nil {
			return "", 0, err
		}
		absolute, err := filepath.Abs(file)
		if err != nil {
			return "", 0, err
		}
		replaced[absolute] = path
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return "", 0, err
	}
	path := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(path, overlay, 0o600); err != nil {
		return "", 0, err
	}
	all := append([]string{"test", "-overlay", path, "-tags", "ours", "-count=1", "-v"}, arguments...)
	cmd := exec.CommandContext(t.Context(), "go", append(all, ".")...)
	cmd.Env = append(os.Environ(), printing+"=1")
	out, err := cmd.CombinedOutput()
	return string(out), len(replaced), err
}

// Ours runs the tests that pattern selects with our import, and returns their output. It fails the test if one of them fails, or if fewer
// than least files were changed.
func Ours(t *testing.T, pattern string, least int) string {
	t.Helper()
	out, changed, err := Test(t, "-run", pattern)
	if err != nil || changed < least {
		t.Fatalf("%d files were changed; %v\n%s", changed, err, end(out))
	}
	return out
}

// Official runs the tests that pattern selects in this program again, as another process, and returns their output. It fails the test if
// one of them fails.
func Official(t *testing.T, pattern string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run="+pattern, "-test.v")
	cmd.Env = append(os.Environ(), printing+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, end(string(out)))
	}
	return string(out)
}

// end returns the last lines of an output.
func end(out string) string { return out[max(0, len(out)-2000):] }

// printing is the environment variable of the processes whose output another test reads.
const printing = "HOLDFAST_SWAP"

// Record prints what a client did, for [Recorded] in the test that started this process with one of the imports. Outside such a process the
// test is skipped, before recording is called: nobody would read it.
func Record[T any](t *testing.T, recording func() T) {
	t.Helper()
	if os.Getenv(printing) == "" {
		t.Skip("the tests that compare run it, with each import")
	}
	text, err := json.Marshal(recording())
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("%s%s\n", recorded, text)
}

const recorded = "recorded: "

// Recorded returns what [Record] printed.
func Recorded[T any](t *testing.T, output string) (recording T) {
	t.Helper()
	for line := range strings.Lines(output) {
		text, ok := strings.CutPrefix(line, recorded)
		if !ok {
			continue
		}
		if err := json.Unmarshal([]byte(text), &recording); err != nil {
			t.Fatal(err)
		}
		return recording
	}
	t.Fatalf("nothing was recorded:\n%s", end(output))
	return recording
}
