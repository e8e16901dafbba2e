package simulation

import (
	"runtime"
	"testing"
	"time"
)

// TestTCP is the same load, with the same checks, on real sockets and the real clock: for a minute with the race detector.
func TestTCP(t *testing.T) {
	duration := 5 * time.Second
	if raceEnabled && !testing.Short() {
		duration = time.Minute
	}
	goroutines := runtime.NumGoroutine()
	l := lead(t, onTCP(*fromFlag, duration))
	awaitGoroutines(l.history, goroutines)
	found := l.check()
	l.report(t, found)
	t.Logf("%d calls, %d faults, %v", len(l.history.calls), len(l.hits), l.lasted)
	// How many operations a machine makes in this time is its own affair.
	if few := 10 * l.workers; l.lasted < duration || len(l.history.calls) < few && !testing.Short() {
		t.Errorf("%d calls, %v; want more", len(l.history.calls), l.lasted)
	}
	if all := l.workers * l.operations; len(l.history.calls) >= all && len(l.hits) < l.injectable()*8/10 {
		t.Errorf("%d faults of %d", len(l.hits), l.injectable())
	}
}

// injectable returns how many faults are planned.
func (l *life) injectable() int { return newPlan(l.settings).size() }

// awaitGoroutines waits until there are no more goroutines than before the life.
func awaitGoroutines(h *history, before int) {
	deadline := time.Now().Add(10 * time.Second)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			h.violated("leak", "%d goroutines are left:\n%s", runtime.NumGoroutine()-before, stacks())
			return
		}
		pause(10 * time.Millisecond)
	}
}
