package mongotest

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
)

// https://www.mongodb.com/docs/manual/reference/command/commitTransaction/

func cmdCommitTransaction(x *call) error {
	return x.endTransaction(func(t *replica.Transaction) error {
		if t != nil && x.command.recovers {
			t.AbortLocked() // unless it has ended: this mongos does not know whether all of it has arrived
		}
		switch {
		case t == nil: // an earlier primary committed it
			x.result.applied = x.client.member.Data.Log.Last()
			return nil
		case t.State == replica.Aborted:
			return mongoerr.Errorf(mongoerr.NoSuchTransaction, "Transaction with { txnNumber: %d } has been aborted.", t.Number)
		case t.State == replica.Running:
			if len(t.Writes) >= longCommit {
				letOthersPoll()
			}
			t.CommitLocked()
		}
		x.result.applied = t.Entry
		return nil
	})
}

// https://www.mongodb.com/docs/manual/reference/command/abortTransaction/

func cmdAbortTransaction(x *call) error {
	return x.endTransaction(func(t *replica.Transaction) error {
		switch {
		case t == nil || t.State == replica.Committed:
			return mongoerr.Errorf(mongoerr.TransactionCommitted, "Transaction with { txnNumber: %d } has been committed.", x.command.txn)
		case t.State == replica.Aborted:
			return mongoerr.Errorf(mongoerr.NoSuchTransaction, "Transaction with { txnNumber: %d } has been aborted.", t.Number)
		}
		t.AbortLocked()
		x.result.applied = x.client.member.Data.Log.Last()
		return nil
	})
}

// endTransaction finds the transaction that the command is of and hands it to end; nil if it was committed before this
// member became primary.
func (x *call) endTransaction(end func(t *replica.Transaction) error) error {
	if err := x.adminOnly(); err != nil {
		return err
	}
	for i := range x.command.args {
		if name := string(x.command.args[i].Key); name != "recoveryToken" {
			return fields.Unknown(x.command.name, name)
		}
	}
	if !x.inTransaction() {
		return mongoerr.Errorf(mongoerr.CommandFailed, "%s must be run within a transaction", x.command.name)
	}
	rs, m := x.client.cluster, x.client.member
	rs.set.Lock()
	defer rs.set.Unlock()
	err := x.primaryLocked()
	if err == nil && x.command.name == "commitTransaction" {
		err = x.awaitUnlockLocked()
	}
	if x.result.term = m.Term; err != nil {
		return err
	}
	s := m.Data.Session(string(x.command.lsid))
	t := m.Transactions[s.Key]
	switch {
	case x.command.txn < s.Active:
		return x.tooOld(s)
	case t != nil && t.Number == x.command.txn:
		return end(t)
	case s.Committed(x.command.txn):
		return end(nil)
	}
	return x.noSuchTransaction(s)
}
