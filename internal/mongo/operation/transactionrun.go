package operation

import (
	"errors"

	official "go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/retry"
)

// currentPin returns the pin of the next attempt: that of the operation if it has a server already, or else that of the
// transaction if it has one.
func (r *run) currentPin() *Pin {
	if r.session == nil || r.op.Pin.Server() != nil {
		return r.op.Pin
	}
	if pin := &r.session.transaction.pin; pin.Server() != nil {
		return pin
	}
	return r.op.Pin
}

// startsTransaction reports whether the command is the first one of the transaction.
func (r *run) startsTransaction() bool {
	return r.transactional && (r.startAgain || r.session.transaction.state == transactionStarting)
}

// joined is called when a command is about to be sent. The first command of a transaction pins it to a mongos or, behind a
// load balancer, to a connection. An operation outside a transaction ends the state of the last one.
func (r *run) joined(target cluster.Target, conn *cluster.Conn) {
	switch {
	case r.session == nil || r.op.ends != endsNothing:
	case !r.transactional:
		if !r.session.TransactionRunning() && r.session.transaction.state != noTransaction {
			r.session.transaction = transaction{}
		}
	case r.startsTransaction():
		r.startAgain = true
		t := &r.session.transaction
		t.state = transactionInProgress
		sharded := conn.Description.Type == topology.Mongos || target.Topology.Type == topology.LoadBalanced
		if sharded {
			t.pin.Transaction = true
			t.pin.pinTo(target, conn)
			r.pin = &t.pin
		}
	}
}

// failedInTransaction applies the rules of the Transactions specification to a failed attempt: it adds labels to the
// error, unpins, and prepares the next attempt.
func (r *run) failedInTransaction(f *retry.Failure) {
	switch notBuilt := f.Stop == retry.StopNotBuilt; {
	case f.Err == official.ErrClientDisconnected: //nolint:errorlint // the error itself: nothing was sent. One in flight matches it too.
	case r.op.ends == commits && notBuilt:
		r.inheritUnknownCommit(f)
	case r.op.ends == commits:
		r.commitFailed(f)
	case notBuilt:
	case r.transactional:
		r.operationFailed(f)
	case r.op.ends == aborts:
		r.session.Unpin()
	}
}

// operationFailed handles the failure of an operation in a transaction.
func (r *run) operationFailed(f *retry.Failure) {
	var queued *cluster.CheckOutError // the pool was full: neither a network error nor one of the selection
	if f.Stage != retry.StageAnswered && !errors.As(f.Err, &queued) {
		f.Err = withLabel(f.Err, LabelTransientTransaction)
	}
	r.startAgain = r.startAgain && f.Reason == retry.ReasonOverloaded
	if r.startAgain {
		r.session.Unpin()
	}
}

// commitFailed handles the failure of a commit. A commit after attempts that were all refused for overload has the same
// write concern, each other one majority.
func (r *run) commitFailed(f *retry.Failure) {
	if unknownCommit(f) {
		f.Err = withLabel(f.Err, LabelUnknownCommit)
		r.session.transaction.perhapsCommitted = r.session.transaction.perhapsCommitted || f.Stage != retry.StageBeforeSending
	} else {
		r.inheritUnknownCommit(f)
	}
	if Labelled(f.Err, LabelUnknownCommit) || Labelled(f.Err, LabelTransientTransaction) {
		r.session.Unpin()
	}
	if f.Reason != retry.ReasonOverloaded {
		r.session.transaction.majority = true
	}
}

// inheritUnknownCommit labels an error that by itself would say that the transaction was not committed, if an earlier attempt,
// perhaps of an earlier call, may have committed it. Only the label TransientTransactionError and a write concern error say
// more: the first that it was aborted, the second that it was committed.
func (r *run) inheritUnknownCommit(f *retry.Failure) {
	if r.session.transaction.perhapsCommitted && !f.Unsettled && !Labelled(f.Err, LabelTransientTransaction) {
		f.Err = withLabel(f.Err, LabelUnknownCommit)
	}
}

// The write concern errors that say that the write concern is invalid, so they tell nothing about the commit.
const (
	codeUnknownReplWriteConcern   = 79
	codeUnsatisfiableWriteConcern = 100
)

// unknownCommit reports whether a failed attempt leaves it unknown whether the transaction was committed (Transactions
// specification, "UnknownTransactionCommitResult").
func unknownCommit(f *retry.Failure) bool {
	var answer official.CommandError
	switch {
	case f.Stage != retry.StageAnswered || !errors.As(f.Err, &answer):
		return true
	case f.Unsettled: // a write concern error
		return answer.Code != codeUnknownReplWriteConcern && answer.Code != codeUnsatisfiableWriteConcern
	default:
		return answer.Code == codeMaxTimeExpired || answer.HasErrorLabel(labelRetryableWrite)
	}
}

// withLabel adds a label to an error. An error of a type without labels is put into a CommandError.
func withLabel(err error, label string) error {
	if e, ok := err.(official.CommandError); ok { //nolint:errorlint // it is not wrapped here
		e.Labels = append(e.Labels, label)
		return e
	}
	return withoutReply(err, label)
}
