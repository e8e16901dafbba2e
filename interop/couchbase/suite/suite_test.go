package suite

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/holdfast-db/holdfast/couchbasetest"
)

const (
	wholeSuite = 250 // integration tests of gocb v2.12.4
	inScope    = 139 // those about what the server serves
	bar        = 115 // of these, how many must pass
)

// runs are what the suite is run against. Some tests run only with old servers, and more only with new ones.
var runs = []struct {
	version string // of the server that the nodes behave as
	options []couchbasetest.Option
}{
	{"8.0.0", nil},
	{"7.2.2", []couchbasetest.Option{couchbasetest.TLS()}},
	{"6.6.0", nil},
}

// TestSuite runs the suite against each cluster, and compares how each test ended with the lists.
func TestSuite(t *testing.T) {
	if testing.Short() {
		t.Skip("the tests run in programs of their own, for a minute")
	}
	s, expected := compile(t), expectations(t)
	results := make(map[string]*result)
	for _, one := range runs {
		r := new(result)
		results[one.version] = r
		t.Run(one.version, func(t *testing.T) {
			t.Parallel()
			cluster := couchbasetest.RunT(t, append(one.options, couchbasetest.Nodes(3), couchbasetest.Version(one.version))...)
			answer(t, cluster)
			*r = *s.run(t, cluster, one.version, expected)
		})
	}
	t.Cleanup(func() { judge(t, results, expected) }) // after the parallel subtests
}

// judge compares the outcomes with the lists, and prints how many tests of what is served pass.
func judge(t *testing.T, results map[string]*result, expected map[string]expectation) {
	got := merged(results)
	for test := range expected {
		if _, ran := got[test]; !ran {
			t.Errorf("%s is listed, and did not run", test)
		}
	}
	passed, served := 0, 0
	for _, test := range slices.Sorted(maps.Keys(got)) {
		a, want := areaOf(test), expected[test]
		if a == nil {
			t.Errorf("%s belongs to no area", test)
			continue
		}
		if want.outcome != got[test] && want.outcome != either {
			t.Errorf("%s ended with %q, and is listed with %q", test, got[test], want.outcome)
			complain(t, results, test)
		}
		if !a.outside {
			served++
			if want.outcome == pass && got[test] == pass {
				passed++
			}
		}
	}
	if len(got) != wholeSuite || served != inScope {
		t.Errorf("%d tests ran, %d of them about what the server serves; want %d and %d", len(got), served, wholeSuite, inScope)
	}
	if passed < bar {
		t.Errorf("%d tests pass, want at least %d", passed, bar)
	}
	fmt.Printf("figure gocb-suite-passed %d\n", passed)
}

// merged returns the outcome of each test: "fail" if it failed with any version, else "pass" if it passed with one.
func merged(results map[string]*result) map[string]outcome {
	all := make(map[string]outcome)
	for _, r := range results {
		for test, o := range r.outcomes {
			if before := all[test]; before == "" || o == fail || o == pass && before == skip {
				all[test] = o
			}
		}
	}
	return all
}

// complain writes what a test wrote with each version with which it failed.
func complain(t *testing.T, results map[string]*result, test string) {
	for version, r := range results {
		if r.outcomes[test] == fail {
			t.Logf("with a server of version %s:\n%s", version, r.said(test))
		}
	}
}
