package router

import (
	"context"
	"strings"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// Ready reports whether clients should come to this router: whether a member is known that takes writes, and the router will not end soon.
// The text says in one line where writes go, or why clients should not come.
func (r *Router) Ready() (text string, ready bool) {
	if r.quiesce.on() {
		return "the router will end soon", false
	}
	return readiness(r.runner.Cluster().Snapshot().Description)
}

func readiness(d *topology.Description) (text string, ready bool) {
	for _, s := range d.Servers {
		switch s.Type {
		case topology.RSPrimary, topology.Standalone, topology.Mongos, topology.LoadBalancer:
			return "writes go to " + s.Address, true
		case topology.Unknown, topology.PossiblePrimary, topology.RSSecondary, topology.RSArbiter, topology.RSOther, topology.RSGhost:
		}
	}
	return "no member is known that takes writes: " + strings.Join(strings.Fields(d.String()), " "), false
}

// WatchReady calls f with what [Router.Ready] returns when it is known for the first time, and each time that ready has changed, until the
// quiesce begins or ctx ends.
func (r *Router) WatchReady(ctx context.Context, f func(text string, ready bool)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // a quiesce ends the wait for a change
		defer cancel()
		select {
		case <-r.quiesce.began:
		case <-ctx.Done():
		}
	}()
	for known, was := false, false; ; {
		s := r.runner.Cluster().Snapshot()
		text, ready := readiness(s.Description)
		if ready != was || !known && !s.Description.Discovering() {
			f(text, ready)
			known, was = true, ready
		}
		err := r.runner.Cluster().WaitForChange(ctx, s, longWait)
		if err != nil || ctx.Err() != nil {
			return
		}
	}
}

// longWait is how long WatchReady waits at once.
const longWait = time.Hour
