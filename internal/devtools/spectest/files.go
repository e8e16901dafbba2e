// Package spectest finds the published test suites of the MongoDB specifications, and a real server to compare with.
// Only tests import it.
package spectest

import (
	"os"
	"path/filepath"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// T has the methods of a test that this package uses.
type T interface {
	Helper()
	Cleanup(f func())
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
}

// Folder returns the folder of the suites: that of HOLDFAST_SPECS, else shared/specifications in the working
// directory or in a folder above it. Without one the test is skipped; in CI it fails.
func Folder(t T) string {
	t.Helper()
	root := os.Getenv("HOLDFAST_SPECS")
	for up := "."; root == "" && len(up) < 32; up = filepath.Join(up, "..") {
		if beside := filepath.Join(up, "shared", "specifications"); isFolder(beside) {
			root = beside
		}
	}
	if _, err := os.Stat(root); err != nil {
		need(t, "the published suites were not found (HOLDFAST_SPECS is their folder): %v", err)
	}
	return root
}

// need ends a test whose data or server is missing. The test is skipped; in CI it fails.
func need(t T, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Load decodes a file of a suite, which is extended JSON, into to.
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

// Lines returns the lines of all files that match a pattern. The test fails if there are none.
func Lines(t T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(paths), err)
	}
	var lines []string
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatalf("%v", err)
		}
		lines = append(lines, strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")...)
	}
	return lines
}
