package simulation

import (
	"runtime"
	"testing"
	"time"
)

// TestTCP is the same load, with the same checks, on real sockets and the real clock.
func TestTCP(t *testing.T) {
	duration := time.Minute
	if testing.Short() {
		duration = 5 * time.Second
	}
	goroutines := runtime.NumGoroutine()
	l := lead(t, onTCP(*fromFlag, duration))
	awaitGoroutines(l.history, goroutines)
	found := l.check()
	l.report(t, found)
	t.Logf("%d calls, %d faults, %v", len(l.history.calls), len(l.hits), l.lasted)
	if l.lasted < duration || len(l.history.calls) < l.workers*l.operations || !testing.Short() && len(l.hits) < leastFaults {
		t.Errorf("%d calls, %d faults, %v; want more", len(l.history.calls), len(l.hits), l.lasted)
	}
}

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
