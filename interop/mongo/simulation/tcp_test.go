package simulation

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/interop/internal/simcheck"
	"github.com/holdfast-db/holdfast/interop/internal/simlife"
)

// TestTCP is the same load, with the same checks, on real sockets and the real clock.
func TestTCP(t *testing.T) {
	duration := simlife.OfTCP()
	goroutines := runtime.NumGoroutine()
	l := lead(t, onTCP(simlife.FirstSeed(), duration))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if n, all := simcheck.AwaitGoroutines(ctx, goroutines); n > 0 {
		l.history.violated("leak", "%d goroutines are left:\n%s", n, all)
	}
	found := l.check()
	l.report(t, found)
	t.Logf("%d calls, %d faults, %v", len(l.history.calls), len(l.hits), l.lasted)
	// How many operations a machine makes in this time is its own affair.
	if few := 10 * l.Workers; l.lasted < duration || len(l.history.calls) < few && !testing.Short() {
		t.Errorf("%d calls, %v; want more", len(l.history.calls), l.lasted)
	}
	if all := l.Workers * l.Operations; len(l.history.calls) >= all && len(l.hits) < l.injectable()*8/10 {
		t.Errorf("%d faults of %d", len(l.hits), l.injectable())
	}
}

// injectable returns how many faults are planned.
func (l *life) injectable() int { return newPlan(l.settings).Size() }
