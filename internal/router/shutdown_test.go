package router_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// Shutdown waits for the clients: at most for the time of quiesce, or until its context ends.
func TestHowLongAShutdownTakes(t *testing.T) {
	const step = 100 * time.Millisecond // more than how often it looks
	for name, c := range map[string]struct {
		leaves time.Duration // 0: never
		limit  time.Duration
		took   time.Duration
	}{
		"nobody leaves":     {0, time.Hour, 15 * time.Second},
		"the client leaves": {3 * time.Second, time.Hour, 3 * time.Second},
		"the context ends":  {0, time.Second, time.Second},
	} {
		inWorld(t, func(w *world) {
			client := w.dial()
			client.must(d("ping", 1))
			synctest.Wait()
			if c.leaves > 0 {
				time.AfterFunc(c.leaves, func() { _ = client.conn.Close() })
			}
			ctx, cancel := context.WithTimeout(w.Context(), c.limit)
			defer cancel()
			began := time.Now()
			w.router.Shutdown(ctx)
			if took := time.Since(began); took < c.took || took > c.took+step {
				w.Errorf("%s: it took %v, want %v", name, took, c.took)
			}
			if n := w.router.Clients(); n != 0 {
				w.Errorf("%s: %d clients are connected", name, n)
			}
		})
	}
}
