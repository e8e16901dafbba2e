package mongotest

import (
	"errors"
	"time"

	"github.com/holdfast-db/holdfast/mongotest/internal/journal"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// writing runs apply as the primary, with the set's mutex held, and publishes what it wrote. It runs it again if a
// transaction kept it from writing, so apply begins by forgetting what it noted before.
func (x *call) writing(apply func() error) error {
	return x.writingUnits(func() error { return x.attemptLocked(x.result.entries, apply) })
}

// writingUnits is writing for a command that may write much. All that run writes, it writes in units.
func (x *call) writingUnits(run func() error) error {
	rs, m := x.client.cluster, x.client.member
	if rs.set.Standalone {
		if err := x.command.writeConcern.CheckStandalone(); err != nil {
			return err
		}
	}
	if err := x.checkOplog(x.command.full); err != nil {
		return err
	}
	rs.set.Lock()
	err := x.writableLocked()
	if x.result.term = m.Term; err != nil {
		rs.set.Unlock()
		return err
	}
	release := func() {}
	if x.command.afterApply != nil {
		release = m.HoldLocked()
	}
	x.takenLocked()
	err = run()
	if failed := x.failWriteLocked(); failed != nil {
		err = failed
	}
	if x.evaluation.lock.cut {
		err = errHangUp
	}
	x.evaluation.lock.locked = false
	if x.result.within == nil {
		x.result.applied = m.Data.Log.Last()
	}
	x.addEntries()
	m.PublishLocked()
	rs.set.Unlock()
	if x.command.afterApply != nil {
		defer release() // also where afterApply ends the goroutine, as t.Fatal does
		x.command.afterApply()
	}
	return err
}

// awaitUnlockLocked waits until the member is not locked against writes, see fsync, and returns why it takes none then.
func (x *call) awaitUnlockLocked() error {
	m := x.client.member
	if err := x.awaitToWriteLocked(func() bool { return m.FsyncLocks == 0 }); err != nil {
		return err
	}
	return x.primaryLocked()
}

// awaitToWriteLocked waits until nothing is in the way, or the member takes no more writes. The time limit, killOp and the end of the client
// end the wait.
func (x *call) awaitToWriteLocked(free func() bool) error {
	m, term := x.client.member, x.client.member.Term
	over := func() bool { return free() || x.client.epoch != m.Epoch || m.Role != replica.Primary || m.Term != term }
	for !over() {
		err := x.client.set.AwaitLocked(replica.NewWaiter(over), x.client.done, pollInterval)
		if errors.Is(err, replica.ErrTimeout) {
			err = x.checkInterrupt()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writableLocked returns why the member takes no write of this command, nil if it does. It waits while the member is locked against writes.
func (x *call) writableLocked() error {
	m := x.client.member
	if err := x.awaitUnlockLocked(); err != nil || !x.command.hasTxn {
		return err
	}
	if x.inTransaction() {
		return x.joinToWriteLocked()
	}
	s := m.Data.Session(string(x.command.lsid))
	t := m.Transactions[s.Key]
	switch {
	case x.command.txn < s.Active:
		return mongoerr.Errorf(mongoerr.TransactionTooOld, "Retryable write with txnNumber %d is prohibited on session %s because a newer "+
			"retryable write with txnNumber %d has already started on this session.", x.command.txn, sessionName(x.command.lsid), s.Active)
	case t != nil && t.Number == x.command.txn:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "Must specify autocommit=false on all operations of a multi-statement transaction.")
	case t != nil && t.Number < x.command.txn:
		t.AbortLocked()
	}
	s.Active = x.command.txn
	return nil
}

func (x *call) primaryLocked() error {
	switch {
	case x.client.epoch != x.client.member.Epoch:
		return errHangUp
	case x.client.member.Role != replica.Primary:
		return mongoerr.Errorf(mongoerr.NotWritablePrimary, "not primary")
	}
	return nil
}

// executedLocked returns the oplog entry of a statement that this session executed before, nil if there is none.
func (x *call) executedLocked(stmt int32) *store.Entry {
	if !x.command.hasTxn || x.result.within != nil || x.client.set.Mutant.NoDeduplication {
		return nil
	}
	return x.client.member.Data.Sessions[string(x.command.lsid)].Executed(x.command.txn, stmt)
}

// sessionRefLocked returns what makes an oplog entry the record of a statement, nil without a transaction number.
func (x *call) sessionRefLocked(stmt int32) *store.SessionRef {
	if !x.command.hasTxn {
		return nil
	}
	return &store.SessionRef{LSID: x.client.member.Data.Sessions[string(x.command.lsid)].Key, Txn: x.command.txn, Stmt: stmt}
}

// storeLocked writes a put or a remove into the command's collection. Its error is the command's, even where it is that of a
// statement: a transaction is in the way.
func (x *call) storeLocked(e *store.Entry, stmt int32, note *journal.Entry) error {
	e.NS = x.command.full
	if err := x.appendLocked(e, stmt, note); err != nil || x.result.within != nil {
		return err
	}
	if c := x.client.member.Data.Collections[x.command.full]; e.Before == nil && c.Def.Options.Capped {
		for r := c.Oldest(); c.Overflows() && r.Key != e.Key; r = c.Oldest() {
			gone := &store.Entry{Kind: store.Remove, NS: x.command.full, Key: r.Key, Before: r.Doc}
			gone.Concern(c.Def)
			x.client.member.AppendLocked(gone)
		}
	}
	return nil
}

// makeLocked makes a collection without options. Before 4.4 no transaction makes one.
func (x *call) makeLocked(ns string) (*store.Definition, error) {
	if x.result.within != nil && !x.client.set.Version.AtLeast(4, 4) {
		return nil, mongoerr.Errorf(mongoerr.OperationNotSupportedInTransaction, "Cannot create namespace %s in multi-document transaction.", ns)
	}
	def := store.NewDefinition()
	return def, x.appendLocked(&store.Entry{Kind: store.Create, NS: ns, Change: &store.Change{After: def}}, -1, nil)
}

// appendLocked writes an entry, to the log or to the command's transaction. Where there is no collection to put a document
// into it makes one.
func (x *call) appendLocked(e *store.Entry, stmt int32, note *journal.Entry) error {
	if err := x.checkOplog(e.NS); err != nil {
		return err
	}
	see := x.collectionLocked
	if e.Kind.OfCatalog() {
		see = x.lookupLocked
	}
	c, err := see(e.NS)
	if err != nil {
		return err
	}
	switch {
	case c != nil:
		e.Concern(c.Def)
		if e.Kind == store.Rename {
			e.Change.Replaces(x.client.member.Data.Collections[e.Change.To])
		}
	case e.Kind == store.Create:
		e.Concern(e.Change.After)
	case e.Kind == store.Put:
		made, err := x.makeLocked(e.NS)
		if err != nil {
			return err
		}
		e.Concern(made)
	}
	if note != nil {
		e.Outcome = &note.Outcome
	}
	if x.result.within != nil {
		return x.conflicting(x.result.within.Write(e))
	}
	m := x.client.member
	if len(m.Open) > 0 {
		if x.result.blocker = m.HeldLocked(e, m.LocksOf(e, c), nil); x.result.blocker != nil {
			return errBlocked
		}
	}
	if stmt >= 0 {
		e.Session = x.sessionRefLocked(stmt)
	}
	m.AppendLocked(e)
	return nil
}

// conflicting notes that a transaction cannot go on, so that it is the command that fails and not only a statement.
func (x *call) conflicting(err error) error {
	if err != nil {
		x.result.conflict = err
	}
	return err
}

// errBlocked ends an attempt to write what a transaction has locked. Nobody else sees it.
var errBlocked = errors.New("mongotest: a transaction is in the way")

// collectionLocked returns a collection as the command sees it, nil if it sees none. Of a view it says that it is one.
func (x *call) collectionLocked(ns string) (*store.Collection, error) {
	c, err := x.lookupLocked(ns)
	if c.IsView() {
		x.result.onView = true
		return nil, store.NotOnView(ns)
	}
	return c, err
}

// lookupLocked returns the collection or view of a namespace as the command sees it, nil if there is none: in its
// transaction, at its read concern's snapshot, or as it is.
func (x *call) lookupLocked(ns string) (*store.Collection, error) {
	if x.result.within != nil {
		c, err := x.result.within.Collection(ns)
		return c, x.conflicting(err)
	}
	if ns == store.OplogName {
		return x.client.member.OplogLocked(x.result.seen), nil
	}
	return x.client.member.Data.Snapshot(ns, x.result.seen), nil
}

// reading returns with the set's mutex held if the member may answer a read of this command.
func (x *call) reading() error {
	rs, m := x.client.cluster, x.client.member
	rs.set.Lock()
	err := x.readableLocked()
	if err == nil {
		err = x.awaitTimesLocked()
	}
	if err == nil {
		err = x.lookLocked()
	}
	x.result.term = m.Term
	if err != nil {
		rs.set.Unlock()
	}
	return err
}

// look returns what a read of the command's collection looks at, without the mutex.
func (x *call) look(q *criteria) (scan, error) {
	if err := x.reading(); err != nil {
		return scan{}, err
	}
	defer x.client.set.Unlock()
	return x.scanLocked(q, (*store.Collection).Frozen)
}

// lookLocked settles what state of the data the command sees.
func (x *call) lookLocked() (err error) {
	switch {
	case x.inTransaction():
		if err := x.primaryLocked(); err != nil {
			return err
		}
		return x.joinLocked()
	case x.command.readConcern == majorityConcern:
		x.result.seen, x.result.readAt = x.client.member.Commit, x.readTimeLocked()
	case x.command.readConcern == snapshotConcern:
		x.result.seen, err = x.snapshotIndexLocked()
	}
	return err
}

// snapshotIndexLocked returns the index of the log at which a snapshot is taken: now for a transaction, what a majority has
// for other reads, unless the read concern names a time.
func (x *call) snapshotIndexLocked() (int64, error) {
	m := x.client.member
	switch {
	case x.command.atTime == 0 && x.inTransaction():
		return m.Data.Log.Last(), nil
	case x.command.atTime == 0:
		x.command.atTime = m.Data.Log.At(m.Commit).TS
		return m.Commit, nil
	}
	index := m.Data.Log.Last()
	for ; index > m.Data.Log.Base; index-- {
		if m.Data.Log.At(index).TS <= x.command.atTime {
			return index, nil
		}
	}
	return 0, mongoerr.Errorf(mongoerr.SnapshotTooOld,
		"Read timestamp Timestamp(%d, %d) is older than the oldest available timestamp.", x.command.atTime.Seconds(),
		x.command.atTime.Increment())
}

// inTime makes an error reply of a wait that took longer than maxTimeMS.
func (x *call) inTime(err error) error {
	if errors.Is(err, replica.ErrTimeout) {
		return mongoerr.Errorf(mongoerr.MaxTimeMSExpired, "operation exceeded time limit")
	}
	return err
}

func (x *call) readableLocked() error {
	switch {
	case x.client.epoch != x.client.member.Epoch:
		return errHangUp
	case x.client.member.Role == replica.Primary:
		return nil
	case !x.command.secondaryOk:
		return mongoerr.Errorf(mongoerr.NotPrimaryNoSecondaryOk, "not primary and secondaryOk=false")
	case x.command.readConcern == linearizableConcern:
		return mongoerr.Errorf(mongoerr.NotWritablePrimary, "cannot satisfy linearizable read concern on non-primary node")
	case !x.client.member.Config.BearsData() || x.client.member.Stale:
		return mongoerr.Errorf(mongoerr.NotPrimaryOrSecondary, "node is not in primary or recovering state")
	}
	return nil
}

// limit is how long the command may wait, negative if it may as long as it wants.
func (x *call) limit() time.Duration {
	if x.command.maxTime == 0 {
		return -1
	}
	return x.command.maxTime
}

// checkOplog refuses to write into the oplog.
func (x *call) checkOplog(ns string) error {
	switch {
	case ns != store.OplogName || x.client.set.Standalone:
		return nil
	case x.command.name == "drop":
		return mongoerr.Errorf(mongoerr.IllegalOperation, "can't drop live oplog while replicating")
	case x.command.name == "renameCollection":
		return mongoerr.Errorf(mongoerr.IllegalOperation, "cannot rename live oplog while replicating")
	}
	return mongoerr.Errorf(mongoerr.InvalidNamespace, "cannot write to %s", ns)
}
