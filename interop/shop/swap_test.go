package shop

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	officialImport = `"go.mongodb.org/mongo-driver/v2/mongo"`
	ourImport      = `"github.com/holdfast-db/holdfast/mongo"`
)

// TestWithOurImport runs the package's other tests with one line of each file changed: the import of the driver.
func TestWithOurImport(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	replaced := make(map[string]string)
	for _, file := range files {
		text := source(t, file)
		if file == "swap_test.go" || !bytes.Contains(text, []byte(officialImport)) {
			continue
		}
		path := filepath.Join(t.TempDir(), file)
		if err := os.WriteFile(path, bytes.ReplaceAll(text, []byte(officialImport), []byte(ourImport)), 0o600); err != nil {
			t.Fatal(err)
		}
		absolute, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		replaced[absolute] = path
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(path, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "test", "-overlay", path, "-count=1", "-v", "-skip", "^TestWithOurImport$", ".").CombinedOutput()
	t.Logf("%d files with another import\n%s", len(replaced), out)
	for _, name := range []string{"TestCatalogue", "TestImport", "TestOrders", "TestFailOver", "TestAFeedGoesOnAfterItsToken"} {
		if !strings.Contains(string(out), "--- PASS: "+name+" ") {
			t.Errorf("%s did not pass", name)
		}
	}
	if err != nil || len(replaced) < 4 {
		t.Errorf("%d files were changed; %v", len(replaced), err)
	}
}

func source(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
