package spec

import (
	"errors"
	"flag"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/holdfast-db/holdfast/internal/spectest"
	"github.com/holdfast-db/holdfast/internal/spectest/unified"
	"github.com/holdfast-db/holdfast/mongo/mongotest"
)

// suites are the folders whose every file is run.
var suites = []string{
	"change-streams", "collection-management", "crud", "index-management", "retryable-reads", "retryable-writes", "run-command", "sessions",
	"transactions", "transactions-convenient-api", "unified-test-format/tests/valid-pass",
}

// filesIn returns the files of the format below a suite's folder, relative to the root.
func filesIn(t *testing.T, root, suite string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(filepath.Join(root, suite), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".json") {
			relative, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			files = append(files, filepath.ToSlash(relative))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatalf("the suite %s has no files", suite)
	}
	return files
}

// runCase runs a case against a server of its own, on a clock of its own.
func runCase(t *testing.T, f *unified.File, c *unified.Test, facts unified.Facts) error {
	if err := facts.Admit(f, c); err != nil {
		return err
	}
	var err error
	synctest.Test(t, func(t *testing.T) {
		set := mongotest.RunT(t, append([]mongotest.Option{mongotest.Version(facts.Version)}, topologies[facts.Topology]...)...)
		r := unified.Runner{Deployment: server{set, facts}, SetInternal: setInternal}
		err = r.Run(t.Context(), f, c)
	})
	return err
}

// TestOfficialClientOnMongotest holds the test server and the runner against the official client.
func TestOfficialClientOnMongotest(t *testing.T) {
	root, table := spectest.Folder(t), readTable(t)
	var mu sync.Mutex
	var results []result
	t.Run("files", func(t *testing.T) {
		for _, suite := range suites {
			for _, file := range filesIn(t, root, suite) {
				t.Run(file, func(t *testing.T) {
					t.Parallel()
					for _, r := range runFile(t, filepath.Join(root, filepath.FromSlash(file)), file) {
						check(t, table, r)
						mu.Lock()
						results = append(results, r)
						mu.Unlock()
					}
				})
			}
		}
	})
	if flag.Lookup("test.run").Value.String() == "" {
		for _, name := range unknown(table, results) {
			t.Errorf("%s lists a case that there is not: %s", tableFile, name)
		}
	}
	count(table, results)
}

func runFile(t *testing.T, path, file string) []result {
	f, err := unified.ReadFile(path)
	if err != nil {
		return []result{{"replicaset " + file, "*", err}}
	}
	var results []result
	for i := range f.Tests {
		c := &f.Tests[i]
		for _, topology := range runsOn(f, c) {
			facts := deployment(f, c, topology)
			results = append(results, result{topology + " " + file, c.Description, runCase(t, f, c, facts)})
		}
	}
	return results
}

func check(t *testing.T, table []group, r result) {
	t.Helper()
	reason := reasonOf(table, r.file, r.name)
	skipped := new(unified.Skipped)
	switch {
	case errors.As(r.err, &skipped):
		if reason != "" {
			t.Errorf("%s: %s: it is listed (%s) and not run here: %v", r.file, r.name, reason, r.err)
		}
	case r.err == nil && reason != "":
		t.Errorf("%s: %s: it is listed (%s) and passes", r.file, r.name, reason)
	case r.err != nil && reason == "":
		t.Errorf("%s: %s: %v", r.file, r.name, r.err)
	case r.err != nil:
		t.Logf("%s: %s: listed (%s): %v", r.file, r.name, reason, r.err)
	}
}
