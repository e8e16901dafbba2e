package prove

import (
	"testing"
	"time"
)

// TestTheHole measures in how many seeds a delayed first step doubles an operation of the article's two-step form, and in how many it never
// does with the form of package mongo/once.
func TestTheHole(t *testing.T) {
	shown, closed := 0, 0
	for i, r := range delayedRequests(t, TwoStep) {
		if r.AsExpected() && r.Counts.Extra > 0 {
			shown++
			continue
		}
		t.Errorf("seed %d: the article's form is not shown to be wrong", i+1)
		explain(t, i+1, r)
	}
	for i, r := range delayedRequests(t, Once) {
		if r.AsExpected() && r.Counts.Extra == 0 {
			closed++
			continue
		}
		t.Errorf("seed %d: the closed form is not shown to be right", i+1)
		explain(t, i+1, r)
	}
	figure("once-hole-shown", shown)
	figure("once-hole-closed", closed)
}

// delayedRequests runs the command's cell in which requests are delayed, for each seed.
func delayedRequests(t *testing.T, strategy string) []Result {
	t.Helper()
	return overSeeds(t, strategy, func(seed int) trial {
		tr := newTrial(strategy, seed)
		tr.failure, tr.settings = "delayed-request", MongoDB.DefaultSettings()
		tr.settings.Seed, tr.settings.LoadLimit = uint64(seed), time.Hour // on the fake clock
		return tr
	})
}
