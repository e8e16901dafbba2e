package simcheck

import (
	"slices"
	"testing"
)

// MustBreak fails the test unless one of some lives breaks the rule. It tries several seeds, because not every order of goroutines shows
// every defect. lead leads the life of a seed and returns its violations.
func MustBreak(t *testing.T, rule string, seeds uint64, lead func(seed uint64) []Violation) {
	t.Helper()
	for seed := uint64(1); seed <= seeds; seed++ {
		found := lead(seed)
		if slices.ContainsFunc(found, func(v Violation) bool { return v.Rule == rule }) {
			return
		}
		t.Logf("seed %d shows nothing: %v", seed, found)
	}
	t.Errorf("no life of %d shows it", seeds)
}
