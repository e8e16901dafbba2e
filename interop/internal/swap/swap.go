// Package swap runs a package's tests with another import: that of an official client is replaced by ours. Nothing else is changed.
package swap

import (
	"encoding/json"
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
)

// Test runs "go test -v" on the package in the working folder with our import, and with further arguments. It returns the output and
// the number of files that were changed. Files whose names begin with "swap" stay as they are.
func Test(t *testing.T, arguments ...string) (output string, changed int, err error) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		return "", 0, err
	}
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
		path := filepath.Join(t.TempDir(), file)
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
	all := append([]string{"test", "-overlay", path, "-count=1", "-v"}, arguments...)
	out, err := exec.CommandContext(t.Context(), "go", append(all, ".")...).CombinedOutput()
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
	out, err := exec.CommandContext(t.Context(), os.Args[0], "-test.run="+pattern, "-test.v").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, end(string(out)))
	}
	return string(out)
}

// end returns the last lines of an output.
func end(out string) string { return out[max(0, len(out)-2000):] }
