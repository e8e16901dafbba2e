package spec

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/holdfast-db/holdfast/internal/devtools/spectest"
	"github.com/holdfast-db/holdfast/internal/devtools/spectest/unified"
)

// suites are the folders whose every file is run.
var suites = []string{
	"auth/tests/unified", "causal-consistency", "change-streams", "client-backpressure", "client-side-operations-timeout", "collection-management",
	"command-logging-and-monitoring", "connection-monitoring-and-pooling/tests/logging", "crud", "gridfs", "index-management",
	"load-balancers/tests", "mongodb-handshake", "open-telemetry",
	"read-write-concern/tests/operation", "retryable-reads", "retryable-writes", "run-command",
	"server-discovery-and-monitoring/tests/unified", "server-selection/tests/logging", "sessions", "transactions",
	"transactions-convenient-api", "unified-test-format/tests/valid-pass", "versioned-api",
}

// filesIn returns the files of the format below a suite's folder, relative to the root.
func filesIn(t *testing.T, root, suite string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(filepath.Join(root, filepath.FromSlash(suite)), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".json") {
			relative, err := filepath.Rel(root, path)
			files = append(files, filepath.ToSlash(relative))
			return err
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

// starter makes a deployment.
type starter func(*testing.T, unified.Facts) unified.Deployment

// runCase runs a case against a server of its own, on a clock of its own.
func runCase(t *testing.T, f *unified.File, c *unified.Test, facts unified.Facts) error {
	return runCaseOn(t, start, f, c, facts)
}

// runCaseOn runs a case against what a starter makes, on a clock of its own.
func runCaseOn(t *testing.T, start starter, f *unified.File, c *unified.Test, facts unified.Facts) error {
	if err := facts.Admit(f, c); err != nil {
		return err
	}
	var err error
	synctest.Test(t, func(t *testing.T) {
		r := unified.Runner{Deployment: start(t, facts), SetInternal: setInternal, Tracing: tracing, Settle: synctest.Wait}
		err = r.Run(t.Context(), f, c)
	})
	return err
}

// runAll runs a case on several deployments, until it fails, and returns how often it was run.
func runAll(t *testing.T, f *unified.File, c *unified.Test, on []unified.Facts) (runs int, err error) {
	for _, facts := range on {
		runs++
		if err := runCase(t, f, c, facts); err != nil {
			return runs, fmt.Errorf("on %s: %w", facts.Version, err)
		}
	}
	return runs, nil
}

// runFile runs the cases of a file. A case whose result is not accepted is run again, as often as its client may need.
func runFile(t *testing.T, root, file string, accepted func(result) bool) []result {
	f, err := unified.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil {
		return []result{{file: "replicaset " + file, name: allCases, err: err}}
	}
	var results []result
	for i := range f.Tests {
		c := &f.Tests[i]
		on, err := runsOn(f, c)
		if err != nil {
			results = append(results, result{file: "none " + file, name: c.Description, err: err})
			continue
		}
		for _, topology := range slices.Sorted(maps.Keys(on)) {
			r := result{file: topology + " " + file, name: c.Description}
			if why, ok := notRun[file][r.name]; ok {
				r.err = errors.New(why)
				results = append(results, r)
				continue
			}
			for range mostRuns {
				r.runs, r.err = runAll(t, f, c, on[topology])
				if accepted(r) {
					break
				}
			}
			results = append(results, r)
		}
	}
	return results
}

// runSuites runs the cases of all files, side by side.
func runSuites(t *testing.T, run func(t *testing.T, root, file string) []result, then func(*testing.T, result)) []result {
	root := spectest.Folder(t)
	var mu sync.Mutex
	var results []result
	t.Run("files", func(t *testing.T) {
		for _, suite := range suites {
			for _, file := range filesIn(t, root, suite) {
				t.Run(file, func(t *testing.T) {
					t.Parallel()
					for _, r := range run(t, root, file) {
						then(t, r)
						mu.Lock()
						results = append(results, r)
						mu.Unlock()
					}
				})
			}
		}
	})
	return results
}

// TestClientOnMongotest holds the client that the build tag chooses against the test server.
func TestClientOnMongotest(t *testing.T) {
	if longRun && testing.Short() {
		t.Skip("the suites take long with this client")
	}
	table, lacks := readTable(t, tableFile), readMissing(t)
	accepted := func(r result) bool { return verdict(table, lacks, r) == "" }
	run := func(t *testing.T, root, file string) []result { return runFile(t, root, file, accepted) }
	results := runSuites(t, run, func(t *testing.T, r result) {
		if *update {
			return
		}
		if v := verdict(table, lacks, r); v != "" {
			t.Errorf("%s: %s: %s", r.file, r.name, v)
		} else if r.outcome() == fails {
			t.Logf("%s: %s: listed (%s): %v", r.file, r.name, listing(table, r.file, r.name).Reason, r.err)
		}
	})
	if flag.Lookup("test.run").Value.String() != "" {
		return // perhaps not all of them were run
	}
	if *update {
		writeFile(t, tableFile, updated(table, results))
		if missingFile != "" {
			writeFile(t, missingFile, missingIn(results))
		}
		return
	}
	for _, name := range unknown(table, results) {
		t.Errorf("%s lists a case that there is not: %s", tableFile, name)
	}
	for _, difference := range lacks.differences(missingIn(results)) {
		t.Error(difference)
	}
	for _, suite := range passed {
		if !slices.ContainsFunc(results, func(r result) bool { return r.outcome() == passes && r.of(suite) }) {
			t.Errorf("no case of the suite %s passes", suite)
		}
	}
	whole = reportOf(table, results)
}
