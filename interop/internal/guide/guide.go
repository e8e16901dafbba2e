// Package guide reads docs/MIGRATION.md, so that tests can compare it with what they know.
package guide

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Check fails the test for each reason that the guide does not have word for word. It is called by packages two folders below the
// repository's root.
func Check(t *testing.T, reasons []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "MIGRATION.md"))
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Join(strings.Fields(string(text)), " ")
	for _, reason := range reasons {
		if !strings.Contains(words, reason) {
			t.Errorf("the guide does not have this difference: %s", reason)
		}
	}
}
