package mongotest

import (
	"strings"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// inTransaction reports whether the command belongs to a transaction.
func (x *call) inTransaction() bool { return x.command.autocommit == autocommitOff }

// retryable reports whether the command is a retryable write.
func (x *call) retryable() bool { return x.command.hasTxn && !x.inTransaction() }

// joinLocked notes the transaction that a statement runs in: it begins it, if the statement says so.
func (x *call) joinLocked() error {
	if x.result.within != nil {
		return nil
	}
	m := x.client.member
	s := m.Data.Session(string(x.command.lsid))
	t := m.Transactions[s.Key]
	switch {
	case x.command.txn < s.Active:
		return x.tooOld(s)
	case x.command.begins && x.command.txn == s.Active:
		return mongoerr.Errorf(mongoerr.ConflictingOperationInProgress,
			"Cannot start a transaction with { txnNumber: %d } on session %s because a transaction or "+
				"retryable write with the same transaction number has already started.", x.command.txn, sessionName(x.command.lsid))
	case x.command.begins:
		at, err := x.snapshotIndexLocked()
		if err != nil {
			return err
		}
		x.result.within = m.BeginLocked(s, x.command.txn, at)
		x.result.within.Use = x.beginUse()
		return nil
	case s.Committed(x.command.txn), t != nil && t.Number == x.command.txn && t.State == replica.Committed:
		return mongoerr.Errorf(mongoerr.TransactionCommitted, "Transaction with { txnNumber: %d } has been committed.", x.command.txn)
	case t == nil || t.Number != x.command.txn:
		return x.noSuchTransaction(s)
	case t.State == replica.Aborted:
		return mongoerr.Errorf(mongoerr.NoSuchTransaction, "Transaction with { txnNumber: %d } has been aborted.", x.command.txn)
	}
	x.result.within = t
	return nil
}

// joinToWriteLocked is joinLocked of a write, which the server's own collections do not take in a transaction.
func (x *call) joinToWriteLocked() error {
	if err := x.joinLocked(); err != nil {
		return err
	}
	if x.command.spec.retryable && strings.HasPrefix(x.command.coll, "system.") {
		return mongoerr.Errorf(50791, "Cannot write to system collection %s within a transaction.", x.command.full)
	}
	return nil
}

func (x *call) tooOld(s *store.Session) error {
	return mongoerr.Errorf(mongoerr.TransactionTooOld,
		"Cannot start transaction with { txnNumber: %d } on session %s because a newer transaction with "+
			"txnNumber { txnNumber: %d } has already started on this session.", x.command.txn, sessionName(x.command.lsid), s.Active)
}

func (x *call) noSuchTransaction(s *store.Session) error {
	return mongoerr.Errorf(mongoerr.NoSuchTransaction,
		"Given transaction number %d does not match any in-progress transactions. The active transaction number is %d",
		x.command.txn, s.Active)
}

// abandon ends the transaction in which a statement failed.
func (x *call) abandon() {
	if !x.inTransaction() || x.command.spec.ends {
		return
	}
	x.client.set.Lock()
	defer x.client.set.Unlock()
	if t := x.client.member.Transactions[string(x.command.lsid)]; t != nil && t.Number == x.command.txn && x.client.epoch == x.client.member.Epoch {
		t.AbortLocked()
	}
}
