package operation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/retold"
	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/retry"
)

// Limits are what an application adds to the client's own rules. The zero Limits add nothing.
type Limits struct {
	// Strategy is asked when the client's own rules allow a retry. It can prevent or delay the retry.
	Strategy retry.Strategy
	Budget   *retry.Budget
	Breaker  *retry.BreakerOptions // for each server
	// AttemptTimeout limits the checkout and the round trip of an attempt, not the selection of its server.
	AttemptTimeout time.Duration
	// SocketTimeout limits each round trip of an operation that has no deadline (socketTimeoutMS).
	SocketTimeout time.Duration
	Observer      retry.Observer
}

// newEngine returns an engine with these limits, which tells told too, unless that is nil. Its attempts have no time limit: an attempt begins with the selection of a
// server, which has a limit of its own. See [Limits.limited].
func (l *Limits) newEngine(told retry.Observer) (*retry.Engine, error) {
	return retry.New(retry.Options{
		Strategy: retry.RetryOnce(), DeadlineMode: retry.DeadlineGiveUp,
		Budget: l.Budget, EndpointBreaker: l.Breaker, Observer: retold.Both(l.Observer, told),
	})
}

// restrict asks the application's strategy about a retry that the client's own rules allow. The longer delay counts.
func (l *Limits) restrict(
	ctx context.Context, state retry.OperationState, failure retry.Failure, allowed retry.Action,
) (retry.Action, error) {
	delay, ok := allowed.Delay()
	if l.Strategy == nil || !ok {
		return allowed, nil
	}
	state.Strategy = nil // the client's own
	action, err := l.Strategy.RetryAfter(ctx, state, failure)
	if longer, ok := action.Delay(); err == nil && ok && longer < delay {
		return allowed, nil
	}
	return action, err
}

// limited returns the context for one attempt on its server.
func (l *Limits) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if l.AttemptTimeout == 0 {
		return ctx, noCancel
	}
	return context.WithTimeoutCause(ctx, l.AttemptTimeout, retry.ErrAttemptTimeout)
}

// errSocketTimeout makes a round trip that was too long an attempt that was too long.
var errSocketTimeout = fmt.Errorf("socketTimeoutMS has passed: %w", retry.ErrAttemptTimeout)

// ofRoundTrip returns the context for the round trip of an attempt.
func (l *Limits) ofRoundTrip(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok || l.SocketTimeout == 0 {
		return ctx, noCancel
	}
	return context.WithTimeoutCause(ctx, l.SocketTimeout, errSocketTimeout)
}

func noCancel() {}

// permitted makes the attempt if the server's breaker permits it. If not, the next attempt prefers another server and is paced
// by changes of the topology.
func (r *run) permitted(ctx context.Context, target cluster.Target) retry.Failure {
	breaker := r.engine.Breaker(target.Server.Address())
	if breaker == nil {
		return r.onServer(ctx, target)
	}
	permit, ok := breaker.Allow()
	if !ok {
		r.after = r.cfg.Cluster.Snapshot()
		return retry.Failure{
			Err: retry.ErrBreakerOpen, Stage: retry.StageBeforeSending, Reason: retry.ReasonCircuitBreakerOpen, Endpoint: target.Server.Address(),
		}
	}
	failure := r.onServer(ctx, target)
	breaker.Done(permit, breaker.Judge(ctx, failure))
	return failure
}

// timedOut reports whether an attempt ended with its own time limit, and not with the operation's context.
func timedOut(ctx context.Context, err error) bool {
	return ctx.Err() == nil && errors.Is(err, retry.ErrAttemptTimeout)
}

// suspect remembers that a server did not answer within the time limit of an attempt. Perhaps it has died and another server
// becomes primary: every monitor is asked for a check, and the next attempt does not use the server before its check has ended.
func (r *run) suspect(s *cluster.Server) {
	r.cfg.Cluster.RequestChecks()
	r.unanswered = s.Suspect()
}
