package operation

import (
	"context"
	"errors"
	"time"

	official "go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/mongoreason"
)

// outcome classifies the result of the round trip, and reports a failure to the topology.
func (r *run) outcome(ctx context.Context, target cluster.Target, conn *cluster.Conn, err error) retry.Failure {
	switch {
	case err != nil:
		return r.ioFailed(ctx, target.Server, conn, err)
	case r.op.unacknowledged():
		return retry.Failure{}
	case !r.reply.OK:
		return r.commandFailed(target.Server, conn)
	}
	if r.reply.WriteConcernError != nil {
		_, r.reply.lacksLabel = r.writeReason(conn, r.reply.writeConcernCode())
	}
	if err := r.op.Command.Accept(&r.reply); err != nil {
		return r.writeFailed(target.Server, conn, err)
	}
	return retry.Failure{}
}

var errUnsupported = errors.New("the server selected for the retry does not support retrying this operation")

// checkOutFailed classifies a failed checkout. Nothing was sent.
func (r *run) checkOutFailed(ctx context.Context, s *cluster.Server, err error) retry.Failure {
	f := retry.Failure{Stage: retry.StageBeforeSending, Endpoint: s.Address(), Idempotency: r.idempotency()}
	var cleared *cluster.PoolClearedError
	var handshake *cluster.HandshakeError
	switch {
	case errors.Is(err, cluster.ErrPoolClosed) && r.cfg.Cluster.Closed():
		f.Err, f.Stop, f.NoAttempt = official.ErrClientDisconnected, retry.StopNoServer, true
		return f
	case errors.As(err, &cleared), errors.Is(err, cluster.ErrPoolClosed):
		f.Reason = mongoreason.PoolCleared
	case timedOut(ctx, err):
		f.Reason = retry.ReasonAttemptTimeout
		r.suspect(s)
	case errors.As(err, &handshake):
		r.check = handshake.Check
		return r.handshakeFailed(f, handshake)
	}
	f.Err = r.clientError(err, f.Reason, labelNetworkError)
	return f
}

// handshakeFailed classifies a failed handshake.
func (r *run) handshakeFailed(f retry.Failure, e *cluster.HandshakeError) retry.Failure {
	switch {
	case e.Connecting && e.Network:
		f.Reason = retry.ReasonOverloaded
		f.Err = r.clientError(e, f.Reason, labelNetworkError, labelSystemOverloaded, labelRetryable)
	case e.Network:
		f.Reason = retry.ReasonConnectionFailed
		f.Err = r.clientError(e, f.Reason, labelNetworkError)
	case e.Reply == nil:
		f.Err = e
	default:
		var reply Reply
		if reply.Parse(e.Reply) == nil && reasonOf(reply.Code) != retry.ReasonUnknown {
			f.Reason = retry.ReasonConnectionFailed
		}
		f.Err = r.commandError(&reply, f.Reason != retry.ReasonUnknown && r.labelsWrites(), e)
	}
	if f.Reason == retry.ReasonConnectionFailed {
		r.after = r.cfg.Cluster.Snapshot() // behind a load balancer nothing else paces the retries
	}
	return f
}

// ioFailed classifies a network error of the operation. If the context has ended, the topology is not told, because
// that shows nothing about the server.
func (r *run) ioFailed(ctx context.Context, s *cluster.Server, conn *cluster.Conn, err error) retry.Failure {
	f := retry.Failure{Stage: retry.StageInFlight, Reason: retry.ReasonNetworkError, Endpoint: s.Address(), Idempotency: r.idempotency()}
	var broken *cluster.IOError
	if errors.As(err, &broken) {
		f.Stage = broken.Stage
	}
	if errors.Is(err, cluster.ErrNoRoom) { // the server has answered
		f.Reason, f.Err = retry.ReasonUnknown, err
		return f
	}
	if errors.Is(err, cluster.ErrDisconnected) {
		f.Stop = retry.StopNoServer // the client is ending
	}
	r.session.networkFailed()
	if timedOut(ctx, err) {
		f.Reason = retry.ReasonAttemptTimeout
		r.suspect(s)
	}
	if ctx.Err() == nil {
		r.cfg.Cluster.ConnectionFailed(s, conn, err)
		r.after = r.cfg.Cluster.Snapshot()
	}
	f.Err = r.clientError(err, f.Reason, labelNetworkError)
	return f
}

// commandFailed classifies a reply with "ok: 0".
func (r *run) commandFailed(s *cluster.Server, conn *cluster.Conn) retry.Failure {
	f := retry.Failure{Stage: retry.StageAnswered, Endpoint: s.Address(), Idempotency: r.idempotency()}
	r.reportToTopology(s, conn, r.reply.Code)
	add := false
	switch {
	case r.reply.overloaded():
		r.after = nil // the backoff paces the retries of an overload
		f.Reason = retry.ReasonOverloaded
		f.BaseBackoff = time.Duration(r.reply.baseBackoffMS) * time.Millisecond
	case r.op.Kind == Read:
		f.Reason = reasonOf(r.reply.Code)
	case r.op.Kind == Write:
		f.Reason, add = r.writeReason(conn, r.reply.Code)
		f.Unsettled = !r.transactional && r.op.ends == endsNothing && (r.op.Several && r.reply.gaveUp() || r.reply.unanswered(conn.Description))
	}
	f.Err = r.commandError(&r.reply, add, nil)
	return f
}

// writeFailed classifies a reply with "ok: 1" that has writeErrors or a writeConcernError.
func (r *run) writeFailed(s *cluster.Server, conn *cluster.Conn, err error) retry.Failure {
	f := retry.Failure{Stage: retry.StageAnswered, Endpoint: s.Address(), Idempotency: r.idempotency()}
	code := r.reply.writeConcernCode()
	f.Unsettled = r.reply.WriteConcernError != nil
	r.reportToTopology(s, conn, code)
	f.Reason, _ = r.writeReason(conn, code)
	f.Err = err
	return f
}

// writeReason returns the reason of a write's error if it has the label RetryableWriteError, and reports whether the
// client must add the label. Without retryWrites the client adds no label.
func (r *run) writeReason(conn *cluster.Conn, code int32) (retry.Reason, bool) {
	is, add := r.reply.retryableWrite(conn.Description)
	if !is || (add && !r.labelsWrites()) {
		return retry.ReasonUnknown, false
	}
	if reason := reasonOf(code); reason == mongoreason.NotWritablePrimary || reason == mongoreason.NodeRecovering {
		return reason, add
	}
	return mongoreason.RetryableWriteLabel, add
}

// labelsWrites reports whether the client adds RetryableWriteError to this operation's errors. In a transaction it adds it
// only to those of the end (Transactions specification, "Interaction with Retryable Writes").
func (r *run) labelsWrites() bool {
	if r.transactional || r.op.ends != endsNothing {
		return !r.transactional
	}
	return r.op.Kind == Write && r.cfg.RetryWrites && r.noRetry != retry.StopUnsupportedServer
}

func (r *run) reportToTopology(s *cluster.Server, conn *cluster.Conn, code int32) {
	if code == 0 && len(r.reply.Message) == 0 {
		return
	}
	r.cfg.Cluster.Answered(s, conn, code, string(r.reply.Message), r.reply.topologyVersion)
	r.after = r.cfg.Cluster.Snapshot()
}
