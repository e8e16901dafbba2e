package mongotest

import (
	"strings"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
)

// https://www.mongodb.com/docs/manual/reference/command/commitTransaction/

func cmdCommitTransaction(x *exec) error {
	return x.endTransaction(func(t *transaction) error {
		if t != nil && x.recovers {
			t.abortLocked() // unless it has ended: this mongos does not know whether all of it has arrived
		}
		switch {
		case t == nil: // an earlier primary committed it
			x.applied = x.member.log.last()
			return nil
		case t.state == aborted:
			return mongoerr.Errorf(mongoerr.NoSuchTransaction, "Transaction with { txnNumber: %d } has been aborted.", t.number)
		case t.state == running:
			t.commitLocked()
		}
		x.applied = t.entry
		return nil
	})
}

// https://www.mongodb.com/docs/manual/reference/command/abortTransaction/

func cmdAbortTransaction(x *exec) error {
	return x.endTransaction(func(t *transaction) error {
		switch {
		case t == nil || t.state == committed:
			return mongoerr.Errorf(mongoerr.TransactionCommitted, "Transaction with { txnNumber: %d } has been committed.", x.txn)
		case t.state == aborted:
			return mongoerr.Errorf(mongoerr.NoSuchTransaction, "Transaction with { txnNumber: %d } has been aborted.", t.number)
		}
		t.abortLocked()
		x.applied = x.member.log.last()
		return nil
	})
}

// endTransaction finds the transaction that the command is of and hands it to end; nil if it was committed before this
// member became primary.
func (x *exec) endTransaction(end func(t *transaction) error) error {
	if err := x.adminOnly(); err != nil {
		return err
	}
	for i := range x.args {
		if name := string(x.args[i].Key); name != "recoveryToken" {
			return unknownField(x.name, name)
		}
	}
	if !x.inTransaction() {
		return mongoerr.Errorf(mongoerr.CommandFailed, "%s must be run within a transaction", x.name)
	}
	rs, m := x.set, x.member
	rs.mu.Lock()
	defer rs.mu.Unlock()
	x.term = m.term
	if err := x.primaryLocked(); err != nil {
		return err
	}
	s := m.sessionLocked(string(x.lsid))
	switch {
	case x.txn < s.active:
		return x.tooOld(s)
	case s.txn != nil && s.txn.number == x.txn:
		return end(s.txn)
	case s.committed(x.txn):
		return end(nil)
	}
	return x.noSuchTransaction(s)
}

// inTransaction tells whether the command belongs to a transaction.
func (x *exec) inTransaction() bool { return x.autocommit == autocommitOff }

// retryable tells whether the command is a retryable write.
func (x *exec) retryable() bool { return x.hasTxn && !x.inTransaction() }

// joinLocked notes the transaction that a statement runs in: it begins it, if the statement says so.
func (x *exec) joinLocked() error {
	if x.within != nil {
		return nil
	}
	m := x.member
	s := m.sessionLocked(string(x.lsid))
	t := s.txn
	switch {
	case x.txn < s.active:
		return x.tooOld(s)
	case x.begins && x.txn == s.active:
		return mongoerr.Errorf(mongoerr.ConflictingOperationInProgress, "Cannot start a transaction with { txnNumber: %d } on session %s because a transaction or "+
			"retryable write with the same transaction number has already started.", x.txn, sessionName(x.lsid))
	case x.begins:
		at, err := x.snapshotIndexLocked()
		if err != nil {
			return err
		}
		x.within = m.beginLocked(s, x.txn, at)
		return nil
	case s.committed(x.txn), t != nil && t.number == x.txn && t.state == committed:
		return mongoerr.Errorf(mongoerr.TransactionCommitted, "Transaction with { txnNumber: %d } has been committed.", x.txn)
	case t == nil || t.number != x.txn:
		return x.noSuchTransaction(s)
	case t.state == aborted:
		return mongoerr.Errorf(mongoerr.NoSuchTransaction, "Transaction with { txnNumber: %d } has been aborted.", x.txn)
	}
	x.within = t
	return nil
}

// joinToWriteLocked is joinLocked of a write, which the server's own collections do not take in a transaction.
func (x *exec) joinToWriteLocked() error {
	if err := x.joinLocked(); err != nil {
		return err
	}
	if x.spec.retryable && strings.HasPrefix(x.coll, "system.") {
		return mongoerr.Errorf(50791, "Cannot write to system collection %s within a transaction.", x.full)
	}
	return nil
}

func (x *exec) tooOld(s *session) error {
	return mongoerr.Errorf(mongoerr.TransactionTooOld, "Cannot start transaction with { txnNumber: %d } on session %s because a newer transaction with "+
		"txnNumber { txnNumber: %d } has already started on this session.", x.txn, sessionName(x.lsid), s.active)
}

func (x *exec) noSuchTransaction(s *session) error {
	return mongoerr.Errorf(mongoerr.NoSuchTransaction, "Given transaction number %d does not match any in-progress transactions. The active transaction number is %d",
		x.txn, s.active)
}

// abandon ends the transaction in which a statement failed.
func (x *exec) abandon() {
	if !x.inTransaction() || x.spec.ends {
		return
	}
	x.set.mu.Lock()
	defer x.set.mu.Unlock()
	if s := x.member.sessions[string(x.lsid)]; s != nil && s.txn != nil && s.txn.number == x.txn && x.epoch == x.member.epoch {
		s.txn.abortLocked()
	}
}
