//go:build !spec_holdfast

package spec

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/internal/devtools/spectest/unified"
)

// routerTable lists the cases that pass at mongotest's own mongos but not through the router, with the reasons.
const routerTable = "expected_router.json"

// leastThroughRouter is the percentage that must pass at least, of the cases that pass at mongotest's own mongos.
const leastThroughRouter = 99

// leastCases is how many cases must count at least, so that a run of nothing fails.
const leastCases = 2600

// routerVersions are those of the servers behind the router. A case is run on the first that its file admits.
var routerVersions = []string{"8.0.15", "7.0.25", "6.0.26", "5.0.31", "4.4.29", "9.0"}

// asMongos are the topologies that a router is.
var asMongos = []string{"sharded", "load-balanced"}

// behindRouter returns the deployment on which a case is run, nil if there is none. Behind a load balancer that is only a case whose file
// names it.
func behindRouter(f *unified.File, c *unified.Test, topology string) *unified.Facts {
	if topology == "load-balanced" && !f.Names(c, topology) {
		return nil
	}
	for _, v := range routerVersions {
		for _, auth := range []bool{false, true} {
			facts := unified.Facts{Version: v, Topology: topology, Auth: auth, AuthMechanisms: mechanisms, Parameters: parameters}
			if (topology != "load-balanced" || v >= leastBalanced) && facts.Admit(f, c) == nil {
				return &facts
			}
		}
	}
	return nil
}

// throughRouter runs a file's cases through the router. It returns those that count: one that passes neither there nor at mongotest's own mongos
// does not.
func throughRouter(t *testing.T, table []group, root, file string) []result {
	f, err := unified.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil {
		return nil // TestClientOnMongotest lists the files that cannot be read
	}
	var results []result
	for i := range f.Tests {
		c := &f.Tests[i]
		for _, topology := range asMongos {
			facts := behindRouter(f, c, topology)
			if _, ok := notRun[file][c.Description]; ok || facts == nil {
				continue
			}
			r := result{file: topology + " " + file, name: c.Description}
			accepted := func(err error) bool { r.err = err; return verdict(table, nil, r) == "" }
			runUntil(accepted, func() error { return runCaseOn(t, startRouted, f, c, *facts) })
			if r.err == nil || runUntil(isNil, func() error { return runCase(t, f, c, *facts) }) {
				results = append(results, r)
			}
		}
	}
	return results
}

// runUntil runs a case until its outcome is accepted, as often as its client may need, and reports whether it was.
func runUntil(accepted func(error) bool, run func() error) bool {
	for range mostRuns {
		if accepted(run()) {
			return true
		}
	}
	return false
}

func isNil(err error) bool { return err == nil }

// TestClientThroughTheRouter runs what a mongos may be asked through the router. What passes at mongotest's own mongos must pass, but for the
// cases in the table.
func TestClientThroughTheRouter(t *testing.T) {
	if testing.Short() {
		t.Skip("the suites take long with this client")
	}
	table := readTable(t, routerTable)
	run := func(t *testing.T, root, file string) []result { return throughRouter(t, table, root, file) }
	results := runSuites(t, run, func(t *testing.T, r result) {
		if v := verdict(table, nil, r); v != "" && !*update {
			t.Errorf("%s: %s: %s", r.file, r.name, v)
		}
	})
	if strings.Contains(flag.Lookup("test.run").Value.String(), "/") {
		return // perhaps not all of them were run
	}
	if *update {
		writeFile(t, routerTable, updated(table, results))
		return
	}
	for _, name := range unknown(table, results) {
		t.Errorf("%s lists a case that there is not, or that mongotest's own mongos does not pass either: %s", routerTable, name)
	}
	if len(results) < leastCases {
		t.Errorf("only %d cases count, under %d", len(results), leastCases)
	}
	all, balanced := 0, 0
	for _, r := range results {
		if r.outcome() != passes {
			continue
		}
		if all++; r.of("load-balancers/tests") {
			balanced++
		}
	}
	percent := 100 * float64(all) / float64(len(results))
	if percent < leastThroughRouter {
		t.Errorf("%.2f %% of the cases pass, under %d", percent, leastThroughRouter)
	}
	fmt.Printf("%d of %d cases pass, %d of them of the load balancers' suite\n", all, len(results), balanced)
	fmt.Printf("figure router-spec-passed %.2f\n", percent)
}
