package prove

import (
	"testing"
	"testing/synctest"
	"time"
)

// hitsOf runs a cell and returns the faults that happened.
func hitsOf(t *testing.T, d Deployment, strategy, failure string, seed uint64) (hits []*hit, f Failure, s Settings) {
	t.Helper()
	m := embeddedMatrix(t, d, []string{strategy}, []string{failure})
	m.Settings.Seed, m.Settings.LoadLimit = seed, 24*time.Hour // on the fake clock
	if d.Backend() == Couchbase {
		m.Settings.Size.ClusterHits = 4 // a fault of the cluster keeps others away for a thousand operations
	}
	synctest.Test(t, func(t *testing.T) {
		c := &cell{backend: d.Backend(), strategy: m.Strategies[0], failure: m.Failures[0], settings: m.Settings, dial: m.Dial}
		result := c.blank()
		if err := c.measure(t.Context(), d, &result); err != nil {
			t.Fatal(err)
		}
		hits = c.injector.hits
	})
	return hits, m.Failures[0], m.Settings
}

// followed returns how many of the hits the schedule has.
func followed(hits []*hit, s Schedule, twoSteps bool) (n int) {
	planned := make(map[string]PlannedFault)
	for _, f := range s.Faults {
		planned[f.Operation] = f
	}
	for _, h := range hits {
		want := planned[h.op.String()]
		if got := h.scheduled(h.op, want.Step != 0); got == want && (!twoSteps || h.step == want.Step) {
			n++
		}
	}
	return n
}

func TestTheHitsFollowTheSchedule(t *testing.T) {
	for _, c := range []struct {
		deployment        Deployment
		strategy, failure string
		twoSteps          bool
	}{
		{Memory(), RetryableWrites, Mixed, false},
		{Memory(), TwoStep, Mixed, true},
		{Memory(), Once, "delayed-request", true},
		{CouchbaseMemory(), BestEffort, "rebalance", false},
	} {
		t.Run(c.strategy+" "+c.failure, func(t *testing.T) {
			backend := c.deployment.Backend()
			all, failure, settings := hitsOf(t, c.deployment, c.strategy, c.failure, 7)
			var hits []*hit
			kinds := make(map[FaultKind]bool)
			for _, h := range all {
				if h.kind != Outage { // it has no place in the schedule
					hits = append(hits, h)
					kinds[h.kind] = true
				}
			}
			schedule := backend.ScheduleOf(failure, settings, settings.Size.MaxOperations)
			if n := followed(hits, schedule, c.twoSteps); n != len(hits) || n == 0 {
				t.Errorf("%d of %d hits are in the schedule", n, len(hits))
			}
			if want := len(settings.plan(failure).kinds); len(kinds) != want {
				t.Errorf("%d kinds of faults happened, want %d", len(kinds), want)
			}
			settings.Seed++
			if n := followed(hits, backend.ScheduleOf(failure, settings, settings.Size.MaxOperations), c.twoSteps); n == len(hits) {
				t.Error("the schedule of another seed has the hits too")
			}
		})
	}
}
