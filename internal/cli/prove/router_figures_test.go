package prove

import "testing"

// TestRouterFigures measures what clients without retries see behind a router, with mixed failures.
func TestRouterFigures(t *testing.T) {
	missing, extra, misreported := 0, 0, 0
	for i, r := range withStories(t, overFirst(t, atLeastTwo(), NoRetry, routed)) {
		missing, extra, misreported = missing+r.Counts.Missing, extra+r.Counts.Extra, misreported+r.Counts.Misreported
		if !r.AsExpected() {
			t.Errorf("seed %d: a client without retries is not shown to be right", i+1)
			explain(t, i+1, r)
		}
	}
	figure("router-missing", missing)
	figure("router-extra", extra)
	figure("router-misreported", misreported)
}

// atLeastTwo is the number of seeds of the router's figures and controls: two in a usual run.
func atLeastTwo() int {
	if testing.Short() || raceEnabled {
		return 1
	}
	return max(2, *seedsFlag)
}

// routed returns a trial of mixed failures behind a router, with clients without retries.
func routed(seed int) trial {
	tr := newTrial(NoRetry, seed)
	tr.deployment = Routed{Memory()}
	tr.settings.Timing = Router.DefaultSettings().Timing
	return tr
}
