package simulation

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/interop/internal/simcheck"
	"github.com/holdfast-db/holdfast/interop/internal/simlife"
)

// TestTCP is the same load, with the same checks, on real sockets and the real clock. It begins with two moves of each vbucket, in which no
// operation may fail; then come the faults.
func TestTCP(t *testing.T) {
	duration := simlife.OfTCP()
	s := onTCP(simlife.FirstSeed(), duration)
	if duration < time.Minute {
		s.vbuckets = 128 // to move 1,024 twice takes longer
	}
	goroutines := runtime.NumGoroutine()
	l := lead(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if n, all := simcheck.AwaitGoroutines(ctx, goroutines); n > 0 {
		l.history.violated("leak", "%d goroutines are left:\n%s", n, all)
	}
	l.report(t, l.check())
	t.Logf("%d calls, %d of them while all vbuckets moved twice in %v, %d faults, %v", len(l.history.calls), l.moved, l.moving, len(l.hits), l.lasted)
	// How many operations a machine makes in this time is its own affair.
	if few := 10 * l.Workers; l.lasted < duration || l.moved < l.Workers || len(l.history.calls) < 2*few && !testing.Short() {
		t.Errorf("%d calls, %d of them while vbuckets moved, %v; want more", len(l.history.calls), l.moved, l.lasted)
	}
}
