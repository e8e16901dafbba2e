// Package guide reads the guides for people who change from another client, so that tests can compare them with what they know.
package guide

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Check fails the test for each reason that the guide about MongoDB does not have word for word. It is called by packages two folders
// below the repository's root.
func Check(t *testing.T, reasons []string) {
	t.Helper()
	CheckIn(t, "MIGRATION.md", reasons)
}

// CheckIn is Check for another guide in the folder docs.
func CheckIn(t *testing.T, file string, reasons []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", file))
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
