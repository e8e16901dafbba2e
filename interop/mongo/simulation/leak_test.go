package simulation

import (
	"strings"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/interop/internal/simcheck"
	"github.com/holdfast-db/holdfast/interop/internal/simlife"
)

// awaitNoConnections waits until the servers have no connection any more. A server that streams hellos notices the end of a
// connection when its next hello is due, or that after it.
func (c *cast) awaitNoConnections() {
	const patience = 25 * time.Second
	deadline := time.Now().Add(patience)
	for c.rs.Counters().Current > 0 {
		if time.Now().After(deadline) {
			c.history.violated("leak", "%d connections are open %v after all clients have ended", c.rs.Counters().Current, patience)
			return
		}
		simlife.Pause(10 * time.Millisecond)
	}
}

// checkBubble checks that the calling goroutine's bubble has only the goroutines that it had before.
func checkBubble(h *history, before map[string]string) {
	synctest.Wait()
	compareGoroutines(h, before)
}

// compareGoroutines reports the goroutines that were not there before.
func compareGoroutines(h *history, before map[string]string) {
	if left := simcheck.Left(before); len(left) > 0 {
		h.violated("leak", "%d goroutines are left:\n%s", len(left), strings.Join(left, "\n\n"))
	}
}
