package operation

import (
	"context"
	"slices"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/retry"
)

// retryableWireVersion belongs to MongoDB 3.6, the first version with retryable reads and writes.
const retryableWireVersion = 6

// run is the state of one running operation. It is its own retry strategy, because the server of the first attempt
// determines whether the operation may be retried.
type run struct {
	*Runner
	op       *Operation
	session  *Session // nil if the operation runs without a session
	implicit Session  // the session of an operation that was given none
	pin      *Pin     // nil if the operation is not pinned
	number   int      // the number of the attempt, from 0
	// txnNumber is the number of a retryable write. It is the same on every attempt; 0 means none.
	txnNumber int64
	// transactional means that the operation is one of the session's running transaction. (Its end is not.)
	transactional bool
	// startAgain means that the next attempt starts the transaction, because an overloaded server refused the command that
	// was to start it.
	startAgain bool
	// refusal is the reason why the operation is not retried except for overload, or retry.WhyUndecided.
	refusal retry.Why
	// failed are the deprioritized servers.
	failed []string
	// tried are the servers that have failed in this operation.
	tried []string
	// chosen is the error of the attempt that the application gets, or nil for the first one. See choose.
	chosen error
	// after is the topology after the last failure, if the next attempt must be paced by its changes.
	after *cluster.Snapshot
	// check is the check of the server to which no connection could be made. It is nil after other failures.
	check *cluster.PendingCheck
	// unanswered is the check of the server that did not answer within the time limit of an attempt. It is nil after other
	// failures.
	unanswered *cluster.PendingCheck
	// requested means that the request of the operation chose the server of this attempt.
	requested bool
	// otherFailures is the number of failures after which a request does not move to another member.
	otherFailures int
	// pinnedByFailure means that an attempt failed whose reply has "ok: 1", and that the pin is of this attempt. If there is
	// another one, it may go to another server.
	pinnedByFailure bool
	// sending is true during the round trip. It stays true if that panics.
	sending     bool
	reply       Reply
	lastFailure retry.Failure // for the log
	waited      bool          // the log says that a selection of the operation waits
}

// attempt makes one attempt: select a server, check out a connection, build the message, send it, read the reply, and
// classify the outcome.
func (r *run) attempt(ctx context.Context, n int) retry.Failure {
	if r.pinnedByFailure {
		r.op.Pin.Release()
		r.pinnedByFailure = false
	}
	r.number, r.pin = n, r.currentPin()
	if n > 0 {
		r.logRetry()
	}
	target, err := r.selectServer(ctx, n)
	if err != nil {
		failure := retry.Failure{Err: err, Stage: retry.StageDispatch, Refuse: retry.WhyNoServer, NoAttempt: true}
		r.failedInTransaction(&failure)
		return failure
	}
	switch supported := r.supported(target.Description); {
	case n == 0:
		r.refusal = r.refuse(supported)
	case !supported && r.refusal == retry.WhyUndecided: // after an overload error a server needs nothing
		return retry.Failure{
			Err: errUnsupported, Stage: retry.StageDispatch, Refuse: retry.WhyUnsupportedServer, Endpoint: target.Server.Address(),
		}
	}
	r.after, r.check, r.unanswered = nil, nil, nil
	failure := r.permitted(ctx, target)
	switch {
	case failure.Err != nil:
		r.avoid(target, &failure)
		r.tried = append(r.tried, target.Server.Address())
		r.failedInTransaction(&failure)
		r.lastFailure = failure
		r.choose(&failure)
	case r.requested:
		r.op.Request.succeeded(target, r.op.Selection.ReadPref)
	}
	return failure
}

func (r *run) onServer(ctx context.Context, target cluster.Target) retry.Failure {
	limited, cancel := r.cfg.Limits.limited(ctx)
	defer cancel()
	if r.sharesConnection(target) {
		return r.onShared(ctx, limited, target)
	}
	conn, err := r.pin.checkOut(limited, target.Server)
	if err != nil {
		return r.checkOutFailed(ctx, target.Server, err)
	}
	executed := false // stays false if the command or a listener panics
	defer func() {
		r.pin.checkIn(target, conn, executed)
		if executed && r.pin != r.op.Pin && r.op.Pin != nil {
			r.op.Pin.share(r.pin) // a cursor keeps the pin that it has from its transaction
		}
	}()
	unpinned := r.op.Pin != nil && r.op.Pin.server == nil
	failure := r.onConnection(ctx, limited, target, conn)
	executed = failure.Err == nil || r.reply.OK // the reply of a failed write may have a cursor
	r.pinnedByFailure = unpinned && failure.Err != nil && executed
	return failure
}

// selectServer returns the pin's server or a suitable one. If no connection could be made to the server of the last
// attempt, it first waits for the check of that server, which perhaps has died: then another one is selected. From the
// second retry on it takes a server that has not failed in this operation, or waits for a change of the topology, for at most
// MinHeartbeatInterval. Otherwise a server that always returns an error would get thousands of attempts a second.
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
	case n > 1 && r.after != nil && r.after == c.Snapshot():
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
	target, err := r.after.Select(s)
	return err == nil && target.Server != nil && !slices.Contains(r.tried, target.Server.Address())
}

// refuse returns the reason why an operation with this first server may not be retried, or retry.WhyUndecided.
func (r *run) refuse(supported bool) retry.Why {
	switch {
	case !r.op.Retryable:
		return retry.WhyNotRetryable
	case r.transactional:
		return retry.WhyInTransaction
	case r.op.ends != endsNothing:
		return retry.WhyUndecided
	case r.op.Kind == Read && !r.cfg.RetryReads, r.op.Kind == Write && !r.cfg.RetryWrites:
		return retry.WhyDisabled
	case !supported:
		return retry.WhyUnsupportedServer
	default:
		return retry.WhyUndecided
	}
}

// supported reports whether a server has what the retries of the operation need. The servers behind a load balancer, which
// only a connection shows, always do (Load Balancer specification). An Unknown server, to which the operation is pinned, is
// not judged: the checkout has the error that made it Unknown.
func (r *run) supported(s *topology.Server) bool {
	if s.Kind == topology.LoadBalancer || !s.Known() {
		return true
	}
	if s.MaxWireVersion < retryableWireVersion {
		return false
	}
	return r.op.Kind != Write || (s.SessionTimeoutMinutes != nil && s.Kind != topology.Standalone)
}

// RetryAfter implements [retry.Strategy]. An operation is retried once, or with a deadline until the deadline.
// Overload errors have a rule of their own.
func (r *run) RetryAfter(ctx context.Context, request retry.Request, failure retry.Failure) (retry.Action, error) {
	rule := retry.Once()
	if _, ok := ctx.Deadline(); ok {
		rule = retry.UntilDeadline()
	}
	if r.refusal != retry.WhyUndecided {
		rule = never(r.refusal)
	}
	if r.requested && r.refusal == retry.WhyUndecided {
		rule = r.requestRule(&failure)
	}
	if !r.overloadRetries() || r.requested && movesOn(&failure) {
		return r.restricted(ctx, request, failure, rule)
	}
	return r.restricted(ctx, request, failure, retry.Overload(r.cfg.MaxAdaptiveRetries, rule))
}

// restricted follows the client's own rule and, if that allows a retry, the application's strategy.
func (r *run) restricted(
	ctx context.Context, request retry.Request, failure retry.Failure, rule retry.Strategy,
) (retry.Action, error) {
	action, err := rule.RetryAfter(ctx, request, failure)
	if err != nil {
		return action, err
	}
	return r.cfg.Limits.restrict(ctx, request, failure, action)
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

type never retry.Why

func (w never) RetryAfter(context.Context, retry.Request, retry.Failure) (retry.Action, error) {
	return retry.Decline(retry.Why(w)), nil
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
	case t.Topology.Kind == topology.Sharded, r.cfg.Retarget && f.Reason == retry.ReasonOverloaded,
		f.Reason == retry.ReasonAttemptTimeout, f.Reason == retry.ReasonCircuitBreakerOpen:
	default:
		return
	}
	r.failed = append(r.failed, t.Server.Address())
}

// onConnection sends the command and reads its reply within the context limited, which ends when ctx does or earlier.
func (r *run) onConnection(ctx, limited context.Context, target cluster.Target, conn *cluster.Conn) retry.Failure {
	r.reply = Reply{} // the reply of an earlier attempt is in another connection's buffer
	if err := r.useSession(target, conn); err != nil {
		return retry.Failure{Err: err, Stage: retry.StageDispatch, Refuse: retry.WhyNotBuilt, Endpoint: target.Server.Address()}
	}
	requestID := requestIDs.Add(1)
	message, err := r.build(ctx, target, conn, requestID)
	if err != nil {
		return retry.Failure{Err: err, Stage: retry.StageDispatch, Refuse: retry.WhyNotBuilt, Endpoint: target.Server.Address()}
	}
	r.joined(target, conn)
	watched := r.started(ctx, conn, message, requestID)
	limited, cancel := r.cfg.Limits.ofRoundTrip(limited)
	defer cancel()
	r.sending = true
	if r.op.unacknowledged() {
		err = conn.Send(limited, message)
	} else {
		err = r.roundTrip(limited, conn, message, requestID)
	}
	r.sending = false
	failure := r.outcome(ctx, target, conn, err)
	if watched != nil {
		watched.finished(ctx, failure.Err, &r.reply)
	}
	return failure
}

func (r *run) roundTrip(ctx context.Context, conn *cluster.Conn, message []byte, requestID int32) error {
	answer, err := conn.RoundTrip(ctx, message, requestID)
	if err != nil {
		return err
	}
	msg, err := wire.ParseMsg(answer)
	if err == nil {
		err = r.reply.Parse(msg.Body)
	}
	if err != nil {
		return conn.Broken(err)
	}
	r.clock.advance(r.reply.clusterTime)
	r.session.advance(&r.reply)
	return nil
}

// outcome classifies the result of the round trip, and reports a failure to the topology.
func (r *run) outcome(ctx context.Context, target cluster.Target, conn *cluster.Conn, err error) retry.Failure {
	switch {
	case err != nil:
		return r.ioFailed(ctx, target.Server, conn, err)
	case r.op.unacknowledged():
		return retry.Failure{}
	case !r.reply.OK:
		return r.refused(target.Server, conn)
	}
	if r.reply.WriteConcernError != nil {
		_, r.reply.lacksLabel = r.writeReason(conn, r.reply.writeConcernCode())
	}
	if err := r.op.Command.Accept(&r.reply); err != nil {
		return r.writeFailed(target.Server, conn, err)
	}
	return retry.Failure{}
}

// useSession gives the operation a server session and, for a retryable write, a transaction number. This happens
// after the checkout, because the connection's hello shows whether the server supports sessions. Without them an
// operation in an explicit session is an error.
func (r *run) useSession(target cluster.Target, conn *cluster.Conn) error {
	if r.session == nil || r.op.unacknowledged() {
		return nil
	}
	timeout, ok := sessionTimeout(target.Topology, conn.Description.SessionTimeoutMinutes)
	if !ok {
		if r.session.explicit {
			return errNoSessions
		}
		return nil
	}
	now := conn.CheckedOut() // saves a call of time.Now
	if r.pin.keeps(conn) || r.op.Request != nil {
		now = time.Now() // an earlier operation checked it out
	}
	r.session.begin(now, timeout)
	if r.op.Kind == Write && r.op.ends == endsNothing && r.refusal == retry.WhyUndecided && (r.txnNumber == 0 || r.cfg.Mutant.NewTxnNumberOnRetry) {
		r.txnNumber = r.session.server.nextTxnNumber()
	}
	return nil
}

// effect returns the effect of the attempt. A write with a transaction number is idempotent.
func (r *run) effect() retry.Effect {
	switch {
	case r.op.Kind == Read:
		return retry.EffectReadOnly
	case r.txnNumber != 0:
		return retry.EffectIdempotent
	default:
		return retry.EffectNotIdempotent // the engine uses the operation's own effect if that is better
	}
}
