package operation

import (
	"context"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/retry"
)

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
		failure := retry.Failure{Err: err, Stage: retry.StageBeforeSending, Stop: retry.StopNoServer, NoAttempt: true}
		r.failedInTransaction(&failure)
		return failure
	}
	switch supported := r.supported(target.Description); {
	case n == 0:
		r.noRetry = r.noRetryReason(supported)
	case !supported && r.noRetry == retry.StopNone: // after an overload error a server needs nothing
		return retry.Failure{
			Err: errUnsupported, Stage: retry.StageBeforeSending, Stop: retry.StopUnsupportedServer, Endpoint: target.Server.Address(),
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
		r.rememberError(&failure)
	case r.requested:
		r.op.Request.succeeded(target, r.op.Selection.ReadPref)
		fallthrough
	default:
		failure.Endpoint = target.Server.Address()
	}
	return failure
}

func (r *run) onServer(ctx context.Context, target cluster.Target) retry.Failure {
	limited, cancel := r.cfg.Limits.limited(ctx)
	defer cancel()
	if r.sharesConnection(target) {
		return r.onShared(ctx, limited, target)
	}
	conn, err := r.pin.checkOut(limited, target.Server, r.op.User)
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
	failure := r.loggedIn(ctx, limited, target, conn)
	executed = failure.Err == nil || r.reply.OK // the reply of a failed write may have a cursor
	r.pinnedByFailure = unpinned && failure.Err != nil && executed
	return failure
}

// onConnection sends the command and reads its reply within the context limited, which ends when ctx does or earlier.
func (r *run) onConnection(ctx, limited context.Context, target cluster.Target, conn *cluster.Conn) retry.Failure {
	r.reply = Reply{} // the reply of an earlier attempt is in another connection's buffer
	if err := r.useSession(target, conn); err != nil {
		return retry.Failure{Err: err, Stage: retry.StageBeforeSending, Stop: retry.StopNotBuilt, Endpoint: target.Server.Address()}
	}
	requestID := requestIDs.Add(1)
	message, err := r.build(ctx, target, conn, requestID)
	if err != nil {
		return retry.Failure{Err: err, Stage: retry.StageBeforeSending, Stop: retry.StopNotBuilt, Endpoint: target.Server.Address()}
	}
	r.joined(target, conn)
	told := r.told(ctx, conn, message, requestID)
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
	r.countRows()
	if told != nil {
		told.ended(failure.Err)
	}
	return failure
}

func (r *run) roundTrip(ctx context.Context, conn *cluster.Conn, message []byte, requestID int32) error {
	if r.op.LargeReply != nil {
		conn.UseBuffer(*r.op.LargeReply)
		*r.op.LargeReply = nil
	}
	conn.Admit = r.op.AdmitReply
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
	if r.op.LargeReply != nil {
		*r.op.LargeReply = conn.TakeBuffer()
	}
	r.clock.advance(r.reply.clusterTime)
	r.session.advance(&r.reply)
	return nil
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
	if r.op.Kind == Write && r.op.ends == endsNothing && r.noRetry == retry.StopNone && r.txnNumber == 0 {
		r.txnNumber = r.session.server.nextTxnNumber()
	}
	return nil
}

// idempotency returns the idempotency of the attempt. A write with a transaction number is idempotent.
func (r *run) idempotency() retry.Idempotency {
	switch {
	case r.op.Kind == Read:
		return retry.ReadOnly
	case r.txnNumber != 0:
		return retry.Idempotent
	default:
		return retry.NotIdempotent // the engine uses the operation's own idempotency if that is better
	}
}
