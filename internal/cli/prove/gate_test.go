package prove

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestTheGateFollowsTheDelayOfTheTimers(t *testing.T) {
	const tolerance = 100 * time.Millisecond
	for _, c := range []struct {
		name           string
		limit, running int
		late           time.Duration
		want           int
	}{
		{"all in time, and each place is taken", 4, 4, time.Millisecond, 5},
		{"all in time, and a place is free", 4, 3, time.Millisecond, 4},
		{"all in time, at the most", 8, 8, time.Millisecond, 8},
		{"late", 8, 8, 30 * time.Millisecond, 6},
		{"late, with fewer cells than may run", 8, 4, 30 * time.Millisecond, 3},
		{"late, with one cell", 1, 1, time.Second, 1},
		{"late, with none", 2, 0, time.Second, 1},
	} {
		g := newGate(8)
		g.limit, g.running = c.limit, c.running
		g.adjust(c.late, tolerance)
		if g.limit != c.want {
			t.Errorf("%s: %d cells may run, want %d", c.name, g.limit, c.want)
		}
	}
}

func TestACellWaitsAtTheGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(2)
		g.limit = 1
		entered := 0
		for range 3 {
			go func() { g.enter(); entered++ }()
		}
		for step, want := range []int{1, 2, 3} {
			synctest.Wait()
			if entered != want {
				t.Errorf("step %d: %d cells run, want %d", step, entered, want)
			}
			switch step {
			case 0:
				g.adjust(0, time.Second) // one more may run
			case 1:
				g.leave()
			}
		}
	})
}
