// Package guide reads a guide in docs, so that tests can compare it with what they know.
package guide

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Check fails the test for each reason that the guide, a file of docs, does not have word for word. It is called by packages three folders
// below the repository's root.
func Check(t *testing.T, file string, reasons []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", file))
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Join(strings.Fields(string(text)), " ")
	for _, reason := range reasons {
		if !strings.Contains(words, reason) {
			t.Errorf("%s does not have this difference: %s", file, reason)
		}
	}
}
