package cluster

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/internal/devtools/spectest"
)

// runSuite runs each JSON file of a folder as a subtest, except those in notRun. It fails if a file in notRun does
// not exist.
func runSuite[T any](t *testing.T, folder string, least int, notRun map[string]string, run func(*testing.T, T)) {
	files, err := filepath.Glob(filepath.Join(spectest.Folder(t), filepath.FromSlash(folder), "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	ran, skipped := 0, 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		if notRun[name] != "" {
			skipped++
			continue
		}
		ran++
		t.Run(name, func(t *testing.T) {
			var spec T
			spectest.Load(t, file, &spec)
			run(t, spec)
		})
	}
	if ran < least {
		t.Errorf("%s: %d cases were run, at least %d are expected", folder, ran, least)
	}
	if skipped != len(notRun) {
		t.Errorf("%s: notRun has %d cases, of which %d exist", folder, len(notRun), skipped)
	}
	t.Logf("%s: %d cases run, %d not", folder, ran, skipped)
}
