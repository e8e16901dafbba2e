package operation

import (
	"context"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/retry"
)

// retryableWireVersion belongs to MongoDB 3.6, the first version with retryable reads and writes.
const retryableWireVersion = 6

// noRetryReason returns the reason why an operation with this first server may not be retried, or retry.StopNone.
func (r *run) noRetryReason(supported bool) retry.StopReason {
	switch {
	case !r.op.Retryable:
		return retry.StopNotRetryable
	case r.transactional:
		return retry.StopInTransaction
	case r.op.ends != endsNothing:
		return retry.StopNone
	case r.op.Kind == Read && !r.cfg.RetryReads, r.op.Kind == Write && !r.cfg.RetryWrites:
		return retry.StopDisabled
	case !supported:
		return retry.StopUnsupportedServer
	default:
		return retry.StopNone
	}
}

// supported reports whether a server has what the retries of the operation need. The servers behind a load balancer, which
// only a connection shows, always do (Load Balancer specification). An Unknown server, to which the operation is pinned, is
// not judged: the checkout has the error that made it Unknown.
func (r *run) supported(s *topology.Server) bool {
	if s.Type == topology.LoadBalancer || !s.Known() {
		return true
	}
	if s.MaxWireVersion < retryableWireVersion {
		return false
	}
	return r.op.Kind != Write || (s.SessionTimeoutMinutes != nil && s.Type != topology.Standalone)
}

// RetryAfter implements [retry.Strategy]. An operation is retried once, or with a deadline until the deadline.
// Overload errors have a rule of their own.
func (r *run) RetryAfter(ctx context.Context, state retry.OperationState, failure retry.Failure) (retry.Action, error) {
	rule := retry.RetryOnce()
	if _, ok := ctx.Deadline(); ok || time.Now().Before(r.op.RetryUntil) {
		rule = retry.UntilDeadline()
	}
	if r.noRetry != retry.StopNone {
		rule = never(r.noRetry)
	}
	if r.requested && r.noRetry == retry.StopNone {
		rule = r.requestRule(&failure)
	}
	if !r.overloadRetries() || r.requested && movesOn(&failure) {
		return r.restricted(ctx, state, failure, rule)
	}
	return r.restricted(ctx, state, failure, retry.Overload(r.cfg.MaxAdaptiveRetries, rule))
}

// restricted follows the client's own rule and, if that allows a retry, the application's strategy.
func (r *run) restricted(
	ctx context.Context, state retry.OperationState, failure retry.Failure, rule retry.Strategy,
) (retry.Action, error) {
	action, err := rule.RetryAfter(ctx, state, failure)
	if err != nil {
		return action, err
	}
	return r.cfg.Limits.restrict(ctx, state, failure, action)
}

// overloadRetries reports whether the options allow retries of overload errors. These are allowed for every command
// (Client Backpressure specification), and the end of a transaction is always retried.
func (r *run) overloadRetries() bool {
	if r.op.ends != endsNothing {
		return true
	}
	switch r.op.Kind {
	case Read:
		return r.cfg.RetryReads
	case Write:
		return r.cfg.RetryWrites
	case Generic:
		return r.cfg.RetryReads && r.cfg.RetryWrites
	}
	return false
}

type never retry.StopReason

func (w never) RetryAfter(context.Context, retry.OperationState, retry.Failure) (retry.Action, error) {
	return retry.Decline(retry.StopReason(w)), nil
}
