package gocbsuite

import (
	"fmt"
	"cmp"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/holdfast-db/holdfast/couchbase/couchbasetest"
)

const (
	wholeSuite = 246 // integration tests of gocb v2.11.1
	inScope    = 139 // those about what the server serves
)

// TestSuite runs the suite, and compares how each test ended with the lists.
func TestSuite(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes minutes, most of them in a program of its own")
	}
	cluster := couchbasetest.RunT(t, couchbasetest.Nodes(3), couchbasetest.Version(cmp.Or(os.Getenv("SV"), serverVersion)))
	answer(t, cluster)
	got := runSuite(t.Context(), t, moduleDir(t), cluster)
	if os.Getenv("GOCB_SUITE_PRINT") != "" {
		for _, test := range slices.Sorted(maps.Keys(got.outcomes)) {
			fmt.Println(got.outcomes[test], test, areaOf(test).name)
			if got.outcomes[test] == "fail" {
				fmt.Println(got.said(test))
			}
		}
		fmt.Println(got.said(""))
	}
	if os.Getenv("GOCB_SUITE_TEST") != "" {
		return
	}
	expected := expectations(t)
	for test := range expected {
		if _, ran := got.outcomes[test]; !ran {
			t.Errorf("%s is listed, and did not run", test)
		}
	}
	passed, concerned := 0, 0
	for _, test := range slices.Sorted(maps.Keys(got.outcomes)) {
		a := areaOf(test)
		if a == nil {
			t.Errorf("%s belongs to no area", test)
			continue
		}
		if a.outside == "" {
			concerned++
			if got.outcomes[test] == "pass" {
				passed++
			}
		}
		if want, ok := expected[test]; !ok {
			t.Errorf("%s is not listed; it ended with %q", test, got.outcomes[test])
		} else if got.outcomes[test] != want.outcome {
			t.Errorf("%s ended with %q and is listed with %q\n%s", test, got.outcomes[test], want.outcome, got.said(test))
		}
	}
	if len(got.outcomes) != wholeSuite || concerned != inScope {
		t.Errorf("%d tests ran, %d of them about what the server serves; want %d and %d", len(got.outcomes), concerned, wholeSuite, inScope)
	}
	fmt.Printf("figure gocb-suite-passed %d\n", passed)
}
