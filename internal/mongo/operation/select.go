package operation

import (
	"context"
	"slices"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/retry"
)

// selectServer returns the pin's server or a suitable one. If no connection could be made to the server of the last
// attempt, it first waits for the check of that server, which perhaps has died: then another one is selected. From the
// second retry on it takes a server that has not failed in this operation, or waits until the topology has changed since the
// failure, for at most MinHeartbeatInterval. Otherwise a server that always returns an error would get thousands of attempts a second.
func (r *run) selectServer(ctx context.Context, n int) (cluster.Target, error) {
	c := r.cfg.Cluster
	if server := r.pin.Server(); server != nil {
		return c.TargetOf(server), nil
	}
	if r.requested = r.inRequest(); r.requested {
		return r.op.Request.target(ctx, r.op.Selection, r.failed)
	}
	switch {
	case r.check != nil:
		r.check.Wait(ctx)
	case n > 1 && r.after != nil:
		selection := *r.op.Selection
		if selection.Deprioritized = r.tried; r.hasAnother(&selection) {
			return c.SelectFor(ctx, &selection, r.purpose(), nil)
		}
		if err := c.WaitForChange(ctx, r.after, cluster.MinHeartbeatInterval); err != nil {
			return cluster.Target{}, err
		}
	}
	if len(r.failed) == 0 {
		return c.SelectFor(ctx, r.op.Selection, r.purpose(), nil)
	}
	selection := *r.op.Selection
	selection.Deprioritized = r.failed
	return c.SelectFor(ctx, &selection, r.purpose(), r.unanswered)
}

// hasAnother reports whether there is a suitable server now that has not failed in this operation.
func (r *run) hasAnother(s *topology.Selection) bool {
	target, err := r.cfg.Cluster.Snapshot().Select(s)
	return err == nil && target.Server != nil && !slices.Contains(r.tried, target.Server.Address())
}

// avoid deprioritizes a failed server: in a sharded cluster always, else after an overload error if Retarget is set, and after
// the failures that only an application's limits cause. A read in a request does not use it again.
func (r *run) avoid(t cluster.Target, f *retry.Failure) {
	switch {
	case r.requested && movesOn(f):
		r.cfg.Cluster.RequestChecks()
	case r.requested:
		r.otherFailures++
		return
	case t.Topology.Type == topology.Sharded, r.cfg.Retarget && f.Reason == retry.ReasonOverloaded,
		f.Reason == retry.ReasonAttemptTimeout, f.Reason == retry.ReasonCircuitBreakerOpen:
	default:
		return
	}
	r.failed = append(r.failed, t.Server.Address())
}
