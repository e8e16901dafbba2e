package call

import (
	"strings"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// InTransaction reports whether the command belongs to a transaction.
func (x *Call) InTransaction() bool { return x.Command.autocommit == autocommitOff }

// Retryable reports whether the command is a retryable write.
func (x *Call) Retryable() bool { return x.Command.HasTxn && !x.InTransaction() }

// join notes the transaction that a statement runs in: it begins it, if the statement says so.
func join(x Locked) error {
	if x.Result.Within != nil {
		return nil
	}
	m := x.Client.Member
	s := m.Data.Session(string(x.Command.LSID))
	t := m.Transactions[s.Key]
	switch {
	case x.Command.Txn < s.Active:
		return x.TooOld(s)
	case x.Command.begins && x.Command.Txn == s.Active:
		return mongoerr.Errorf(mongoerr.ConflictingOperationInProgress,
			"Cannot start a transaction with { txnNumber: %d } on session %s because a transaction or "+
				"retryable write with the same transaction number has already started.", x.Command.Txn, sessionName(x.Command.LSID))
	case x.Command.begins:
		at, err := snapshotIndex(x)
		if err != nil {
			return err
		}
		x.Result.Within = m.BeginLocked(s, x.Command.Txn, at)
		x.Result.Within.Use = beginUse(x.Call)
		return nil
	case s.Committed(x.Command.Txn), t != nil && t.Number == x.Command.Txn && t.State == replica.Committed:
		return mongoerr.Errorf(mongoerr.TransactionCommitted, "Transaction with { txnNumber: %d } has been committed.", x.Command.Txn)
	case t == nil || t.Number != x.Command.Txn:
		return x.NoSuchTransaction(s)
	case t.State == replica.Aborted:
		return mongoerr.Errorf(mongoerr.NoSuchTransaction, "Transaction with { txnNumber: %d } has been aborted.", x.Command.Txn)
	}
	x.Result.Within = t
	return nil
}

// joinToWrite is join of a write, which the server's own collections do not take in a transaction.
func joinToWrite(x Locked) error {
	if err := join(x); err != nil {
		return err
	}
	if x.Command.Spec.Retryable && strings.HasPrefix(x.Command.Coll, "system.") {
		return mongoerr.Errorf(50791, "Cannot write to system collection %s within a transaction.", x.Command.Full)
	}
	return nil
}

// TooOld is the error of a transaction number that is older than the session's newest.
func (x *Call) TooOld(s *store.Session) error {
	return mongoerr.Errorf(mongoerr.TransactionTooOld,
		"Cannot start transaction with { txnNumber: %d } on session %s because a newer transaction with "+
			"txnNumber { txnNumber: %d } has already started on this session.", x.Command.Txn, sessionName(x.Command.LSID), s.Active)
}

// NoSuchTransaction is the error of a transaction that the session does not have.
func (x *Call) NoSuchTransaction(s *store.Session) error {
	return mongoerr.Errorf(mongoerr.NoSuchTransaction,
		"Given transaction number %d does not match any in-progress transactions. The active transaction number is %d",
		x.Command.Txn, s.Active)
}

// abandon ends the transaction in which a statement failed, if there is one.
func abandon(x Locked) (is bool) {
	if t := x.Client.Member.Transactions[string(x.Command.LSID)]; t != nil && t.Number == x.Command.Txn && x.Client.Epoch == x.Client.Member.Epoch {
		t.AbortLocked()
		return true
	}
	return false
}
