// Package spectest finds and reads the published test suites of the MongoDB specifications. Only tests import it.
package spectest

import (
	"os"
	"path/filepath"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// T is what it needs of a test.
type T interface {
	Helper()
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
}

// Folder returns the folder of the suites: the one that HOLDFAST_SPECS names or, beside the repository or a folder above it,
// shared/specifications. Without one the test is skipped, and in CI it fails.
func Folder(t T) string {
	t.Helper()
	root := os.Getenv("HOLDFAST_SPECS")
	for up := "."; root == "" && len(up) < 32; up = filepath.Join(up, "..") {
		if beside := filepath.Join(up, "shared", "specifications"); isFolder(beside) {
			root = beside
		}
	}
	if _, err := os.Stat(root); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the published suites are required in CI: %v", err)
		}
		t.Skipf("the published suites are not there (HOLDFAST_SPECS names their folder): %v", err)
	}
	return root
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Load reads a suite's file, which is extended JSON, into a value.
func Load(t T, file string, to any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = bson.UnmarshalExtJSON(text, false, to)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
