package operation

import (
	"context"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/retry"
)

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
	// refusal is the reason why the operation is not retried except for overload, or retry.StopNone.
	noRetry retry.StopReason
	// failed are the deprioritized servers.
	failed []string
	// tried are the servers that have failed in this operation.
	tried []string
	// chosen is the error of the attempt that the application gets, or nil for the first one. See rememberError.
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
	rows        int           // in the reply, -1 if it is not one that has documents; counted only for who is told
	lastFailure retry.Failure // for the log
	telling     decidedContext
	waited      bool // a selection of the operation has waited, for the log
}

// begin sets the operation's session.
func (r *run) begin(runner *Runner, op *Operation) {
	r.Runner, r.op = runner, op
	switch op.Session {
	case NoSession:
	case nil:
		r.implicit.pool = &runner.sessions
		r.session = &r.implicit
	default:
		r.session = op.Session
		r.transactional = r.session.participates(op)
		if !r.transactional && op.ends == endsNothing {
			r.session.Unpin()
		}
	}
}

// do makes the attempts. The implicit session ends with them, also if the application's code panics.
func (r *run) do(ctx context.Context) error {
	defer r.endSession()
	return r.engine.Do(r.decided(ctx), retry.Operation{Strategy: r, Name: r.op.Name, Idempotency: r.op.Idempotency}, r.attempt)
}

func (r *run) endSession() {
	if r.sending { // the application's net.Conn panicked
		r.session.networkFailed()
	}
	r.implicit.End()
	if r.op.ends == aborts {
		r.op.Session.Unpin()
	}
}
