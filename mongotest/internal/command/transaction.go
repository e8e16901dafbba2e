package command

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
)

// https://www.mongodb.com/docs/manual/reference/command/commitTransaction/

func cmdCommitTransaction(x *call.Call) error {
	return endTransaction(x, func(t *replica.Transaction) error {
		if t != nil && x.Command.Recovers {
			t.AbortLocked() // unless it has ended: this mongos does not know whether all of it has arrived
		}
		switch {
		case t == nil: // an earlier primary committed it
			x.Result.Applied = x.Client.Member.Data.Log.Last()
			return nil
		case t.State == replica.Aborted:
			return mongoerr.Errorf(mongoerr.NoSuchTransaction, "Transaction with { txnNumber: %d } has been aborted.", t.Number)
		case t.State == replica.Running:
			if len(t.Writes) >= call.LongCommit {
				call.LetOthersPoll()
			}
			t.CommitLocked()
		}
		x.Result.Applied = t.Entry
		return nil
	})
}

// https://www.mongodb.com/docs/manual/reference/command/abortTransaction/

func cmdAbortTransaction(x *call.Call) error {
	return endTransaction(x, func(t *replica.Transaction) error {
		switch {
		case t == nil || t.State == replica.Committed:
			return mongoerr.Errorf(mongoerr.TransactionCommitted, "Transaction with { txnNumber: %d } has been committed.", x.Command.Txn)
		case t.State == replica.Aborted:
			return mongoerr.Errorf(mongoerr.NoSuchTransaction, "Transaction with { txnNumber: %d } has been aborted.", t.Number)
		}
		t.AbortLocked()
		x.Result.Applied = x.Client.Member.Data.Log.Last()
		return nil
	})
}

// endTransaction finds the transaction that the command is of and hands it to end; nil if it was committed before this
// member became primary.
func endTransaction(x *call.Call, end func(t *replica.Transaction) error) error {
	if err := x.AdminOnly(); err != nil {
		return err
	}
	for i := range x.Command.Args {
		if name := string(x.Command.Args[i].Key); name != "recoveryToken" {
			return fields.Unknown(x.Command.Name, name)
		}
	}
	if !x.InTransaction() {
		return mongoerr.Errorf(mongoerr.CommandFailed, "%s must be run within a transaction", x.Command.Name)
	}
	var release func() // lets others see what was committed, after what a fault does then
	err := call.WithLock(x, func(x call.Locked) error {
		if x.Command.AfterApply != nil && x.Command.Name == "commitTransaction" && x.CheckPrimary() == nil {
			release = x.Client.Member.HoldLocked()
		}
		return endRunning(x, end)
	})
	if release != nil {
		defer release()
		if err == nil {
			x.Command.AfterApply()
		}
	}
	return err
}

func endRunning(x call.Locked, end func(t *replica.Transaction) error) error {
	m := x.Client.Member
	err := x.CheckPrimary()
	if err == nil && x.Command.Name == "commitTransaction" {
		err = x.AwaitUnlock()
	}
	if x.Result.Term = m.Term; err != nil {
		return err
	}
	s := m.Data.Session(string(x.Command.LSID))
	t := m.Transactions[s.Key]
	switch {
	case x.Command.Txn < s.Active:
		return x.TooOld(s)
	case t != nil && t.Number == x.Command.Txn:
		return end(t)
	case s.Committed(x.Command.Txn):
		return end(nil)
	}
	return x.NoSuchTransaction(s)
}
