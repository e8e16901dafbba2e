package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// specifications returns the folder of the published suites. Without one the test is skipped, and in CI it fails.
func specifications(t *testing.T) string {
	t.Helper()
	root := os.Getenv("HOLDFAST_SPECS")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "specifications")
	}
	if _, err := os.Stat(root); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the published suites are required in CI: %v", err)
		}
		t.Skipf("the published suites are not there (HOLDFAST_SPECS names their folder): %v", err)
	}
	return root
}

// runSuite runs each JSON file of a folder as a subtest, except those in notRun, which is held against what is there.
func runSuite[T any](t *testing.T, folder string, least int, notRun map[string]string, run func(*testing.T, T)) {
	files, err := filepath.Glob(filepath.Join(specifications(t), filepath.FromSlash(folder), "*.json"))
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
			load(t, file, &spec)
			run(t, spec)
		})
	}
	if ran < least {
		t.Errorf("%s: %d cases were run, at least %d are expected", folder, ran, least)
	}
	if skipped != len(notRun) {
		t.Errorf("%s: the table of cases that are not run names %d, of which %d are there", folder, len(notRun), skipped)
	}
	t.Logf("%s: %d cases run, %d not", folder, ran, skipped)
}

func load(t *testing.T, file string, to any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := bson.UnmarshalExtJSON(text, false, to); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
