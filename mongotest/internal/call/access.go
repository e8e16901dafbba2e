package call

import (
	"errors"
	"time"

	"github.com/holdfast-db/holdfast/mongotest/internal/journal"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// Locked is a call while it holds the set's mutex. What reads or changes what the set has takes one, so that the compiler knows who holds
// the mutex. Only WithLock, Reading, Writing and WritingUnits hand one out; it is worth nothing when they have returned.
type Locked struct{ *Call }

// WithLock runs do while the call holds the set's mutex, and returns its result.
func WithLock[T any](x *Call, do func(x Locked) T) T {
	x.Client.Set.Lock()
	defer x.Client.Set.Unlock()
	return do(Locked{x})
}

// WithLockValue is WithLock for a function that may fail.
func WithLockValue[T any](x *Call, do func(x Locked) (T, error)) (T, error) {
	x.Client.Set.Lock()
	defer x.Client.Set.Unlock()
	return do(Locked{x})
}

// Writing runs apply as the primary, with the set's mutex held, and publishes what it wrote. It runs it again if a
// transaction kept it from writing, so apply begins by forgetting what it noted before.
func (x *Call) Writing(apply func(x Locked) error) error {
	return x.WritingUnits(func(x Locked) error {
		return attempt(x, x.Result.Entries, func() error { return apply(x) })
	})
}

// WritingUnits is Writing for a command that may write much. All that run writes, it writes in units.
func (x *Call) WritingUnits(run func(x Locked) error) error {
	if x.Client.Set.Standalone {
		if err := x.Command.writeConcern.CheckStandalone(); err != nil {
			return err
		}
	}
	if err := x.CheckOplog(x.Command.Full); err != nil {
		return err
	}
	w := WithLock(x, func(x Locked) written { return writeUnits(x, run) })
	if w.release != nil {
		defer w.release() // also where AfterApply ends the goroutine, as t.Fatal does
		x.Command.AfterApply()
	}
	return w.err
}

// written is how the writing of a command ended.
type written struct {
	release func() // lets others see what AfterApply is called for; nil without
	err     error
}

// writeUnits runs run as the primary, and publishes what it wrote.
func writeUnits(x Locked, run func(x Locked) error) (w written) {
	m := x.Client.Member
	err := checkWritable(x)
	if x.Result.Term = m.Term; err != nil {
		return written{err: err}
	}
	if x.Command.AfterApply != nil {
		w.release = m.HoldLocked()
	}
	taken(x)
	err = run(x)
	if failed := failWrite(x); failed != nil {
		err = failed
	}
	if x.Evaluation.lock.cut {
		err = ErrHangUp
	}
	x.Evaluation.lock.locked = false
	if x.Result.Within == nil {
		x.Result.Applied = m.Data.Log.Last()
	}
	addEntries(x.Call)
	m.PublishLocked()
	w.err = err
	return w
}

// AwaitUnlock waits until the member is not locked against writes, see fsync, and returns why it takes none then.
func (x Locked) AwaitUnlock() error {
	m := x.Client.Member
	if err := awaitToWrite(x, func() bool { return m.FsyncLocks == 0 }); err != nil {
		return err
	}
	return x.CheckPrimary()
}

// awaitToWrite waits until nothing is in the way, or the member takes no more writes. The time limit, killOp and the end of the client
// end the wait.
func awaitToWrite(x Locked, free func() bool) error {
	m, term := x.Client.Member, x.Client.Member.Term
	over := func() bool { return free() || x.Client.Epoch != m.Epoch || m.Role != replica.Primary || m.Term != term }
	for !over() {
		err := x.Client.Set.AwaitLocked(replica.NewWaiter(over), x.Client.Done, pollInterval)
		if errors.Is(err, replica.ErrTimeout) {
			err = checkInterrupt(x.Call)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkWritable returns why the member takes no write of this command, nil if it does. It waits while the member is locked against writes.
func checkWritable(x Locked) error {
	m := x.Client.Member
	if err := x.AwaitUnlock(); err != nil || !x.Command.HasTxn {
		return err
	}
	if x.InTransaction() {
		return joinToWrite(x)
	}
	s := m.Data.Session(string(x.Command.LSID))
	t := m.Transactions[s.Key]
	switch {
	case x.Command.Txn < s.Active:
		return mongoerr.Errorf(mongoerr.TransactionTooOld, "Retryable write with txnNumber %d is prohibited on session %s because a newer "+
			"retryable write with txnNumber %d has already started on this session.", x.Command.Txn, sessionName(x.Command.LSID), s.Active)
	case t != nil && t.Number == x.Command.Txn:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "Must specify autocommit=false on all operations of a multi-statement transaction.")
	case t != nil && t.Number < x.Command.Txn:
		t.AbortLocked()
	}
	s.Active = x.Command.Txn
	return nil
}

// CheckPrimary returns why the member that executes the command is no primary, or not the one that began to; nil if it is.
func (x Locked) CheckPrimary() error {
	switch {
	case x.Client.Epoch != x.Client.Member.Epoch:
		return ErrHangUp
	case x.Client.Member.Role != replica.Primary:
		return mongoerr.Errorf(mongoerr.NotWritablePrimary, "not primary")
	}
	return nil
}

// Executed returns the oplog entry of a statement that this session executed before, nil if there is none.
func (x Locked) Executed(stmt int32) *store.Entry {
	if !x.Command.HasTxn || x.Result.Within != nil {
		return nil
	}
	return x.Client.Member.Data.Sessions[string(x.Command.LSID)].Executed(x.Command.Txn, stmt)
}

// sessionRef returns what makes an oplog entry the record of a statement, nil without a transaction number.
func sessionRef(x Locked, stmt int32) *store.SessionRef {
	if !x.Command.HasTxn {
		return nil
	}
	return &store.SessionRef{LSID: x.Client.Member.Data.Sessions[string(x.Command.LSID)].Key, Txn: x.Command.Txn, Stmt: stmt}
}

// Store writes a put or a remove into the command's collection. If a transaction is in the way, the whole command fails or waits, and not only
// the statement.
func (x Locked) Store(e *store.Entry, stmt int32, note *journal.Entry) error {
	e.NS = x.Command.Full
	if err := x.Append(e, stmt, note); err != nil || x.Result.Within != nil {
		return err
	}
	if c := x.Client.Member.Data.Collections[x.Command.Full]; e.Before == nil && c.Def.Options.Capped {
		for r := c.Oldest(); c.Overflows() && r.Key != e.Key; r = c.Oldest() {
			gone := &store.Entry{Op: store.Remove, NS: x.Command.Full, Key: r.Key, Before: r.Doc}
			gone.Concern(c.Def)
			x.Client.Member.AppendLocked(gone)
		}
	}
	return nil
}

// Make makes a collection without options. Before 4.4 no transaction makes one.
func (x Locked) Make(ns string) (*store.Definition, error) {
	if x.Result.Within != nil && !x.Client.Set.Version.AtLeast(4, 4) {
		return nil, mongoerr.Errorf(mongoerr.OperationNotSupportedInTransaction, "Cannot create namespace %s in multi-document transaction.", ns)
	}
	def := store.NewDefinition()
	return def, x.Append(&store.Entry{Op: store.Create, NS: ns, Change: &store.Change{After: def}}, -1, nil)
}

// Append writes an entry, to the log or to the command's transaction. Where there is no collection to put a document
// into it makes one.
func (x Locked) Append(e *store.Entry, stmt int32, note *journal.Entry) error {
	if err := x.CheckOplog(e.NS); err != nil {
		return err
	}
	see := x.Collection
	if e.Op.OfCatalog() {
		see = x.Lookup
	}
	c, err := see(e.NS)
	if err != nil {
		return err
	}
	if err := x.checkNewNamespace(e); err != nil {
		return err
	}
	switch {
	case c != nil:
		e.Concern(c.Def)
		if e.Op == store.Rename {
			e.Change.Replaces(x.Client.Member.Data.Collections[e.Change.To])
		}
	case e.Op == store.Create:
		e.Concern(e.Change.After)
	case e.Op == store.Put:
		made, err := x.Make(e.NS)
		if err != nil {
			return err
		}
		e.Concern(made)
	}
	if note != nil {
		e.Outcome = &note.Outcome
	}
	if x.Result.Within != nil {
		return conflicting(x.Call, x.Result.Within.WriteLocked(e))
	}
	if err := x.Unblocked(e, c); err != nil {
		return err
	}
	if stmt >= 0 {
		e.Session = sessionRef(x, stmt)
	}
	if store.IsProfile(e.NS) {
		x.Client.Member.Data.ApplyHere(e)
	} else {
		x.Client.Member.AppendLocked(e)
	}
	return nil
}

// Unblocked ends the attempt to write if a transaction is in the way of an entry, which is about a collection, nil for none yet.
// Append does the same; an attempt of several entries must find out before the first.
func (x Locked) Unblocked(e *store.Entry, c *store.Collection) error {
	m := x.Client.Member
	if len(m.Open) == 0 {
		return nil
	}
	if x.Result.blocker = m.BlockerLocked(e, m.LocksOfLocked(e, c), nil); x.Result.blocker != nil {
		return errBlocked
	}
	return nil
}

// conflicting notes that a transaction cannot go on, so that it is the command that fails and not only a statement.
func conflicting(x *Call, err error) error {
	if err != nil {
		x.Result.Conflict = err
	}
	return err
}

// errBlocked ends an attempt to write what a transaction has locked. Nobody else sees it.
var errBlocked = errors.New("mongotest: a transaction is in the way")

// Collection returns a collection as the command sees it, nil if it sees none. Of a view it says that it is one.
func (x Locked) Collection(ns string) (*store.Collection, error) {
	c, err := x.Lookup(ns)
	if c.IsView() {
		x.Result.OnView = true
		return nil, store.NotOnView(ns)
	}
	return c, err
}

// Lookup returns the collection or view of a namespace as the command sees it, nil if there is none: in its
// transaction, at its read concern's snapshot, or as it is.
func (x Locked) Lookup(ns string) (*store.Collection, error) {
	if x.Result.Within != nil {
		c, err := x.Result.Within.CollectionLocked(ns)
		return c, conflicting(x.Call, err)
	}
	if ns == store.OplogName {
		return x.Client.Member.OplogLocked(x.Result.Seen), nil
	}
	return x.Client.Member.Data.Snapshot(ns, x.Result.Seen), nil
}

// Reading runs read, with the set's mutex held, if the member may answer a read of this command.
func (x *Call) Reading(read func(x Locked) error) error {
	return WithLock(x, func(x Locked) error {
		err := checkReadable(x)
		if err == nil {
			err = awaitTimes(x)
		}
		if err == nil {
			err = look(x)
		}
		if x.Result.Term = x.Client.Member.Term; err != nil {
			return err
		}
		return read(x)
	})
}

// ReadValue is Reading for a function with a result.
func ReadValue[T any](x *Call, read func(x Locked) (T, error)) (value T, err error) {
	err = x.Reading(func(x Locked) (err error) {
		value, err = read(x)
		return err
	})
	return value, err
}

// Look returns what a read of the command's collection looks at, without the mutex.
func (x *Call) Look(q *Criteria) (Scan, error) {
	return ReadValue(x, func(x Locked) (Scan, error) { return x.Scan(q, (*store.Collection).Frozen) })
}

// look settles what state of the data the command sees.
func look(x Locked) (err error) {
	switch {
	case x.InTransaction():
		if err := x.CheckPrimary(); err != nil {
			return err
		}
		return join(x)
	case x.Command.ReadConcern == MajorityConcern:
		x.Result.Seen, x.Result.readAt = x.Client.Member.Commit, readTime(x)
	case x.Command.ReadConcern == SnapshotConcern:
		x.Result.Seen, err = snapshotIndex(x)
	}
	return err
}

// snapshotIndex returns the index of the log at which a snapshot is taken: now for a transaction, what a majority has
// for other reads, unless the read concern names a time.
func snapshotIndex(x Locked) (int64, error) {
	m := x.Client.Member
	switch {
	case x.Command.AtTime == 0 && x.InTransaction():
		return m.Data.Log.Last(), nil
	case x.Command.AtTime == 0:
		x.Command.AtTime = m.Data.Log.At(m.Commit).TS
		return m.Commit, nil
	}
	index := m.Data.Log.Last()
	for ; index > m.Data.Log.Base; index-- {
		if m.Data.Log.At(index).TS <= x.Command.AtTime {
			return index, nil
		}
	}
	return 0, mongoerr.Errorf(mongoerr.SnapshotTooOld,
		"Read timestamp Timestamp(%d, %d) is older than the oldest available timestamp.", x.Command.AtTime.Seconds(),
		x.Command.AtTime.Increment())
}

// inTime makes an error reply of a wait that took longer than maxTimeMS.
func inTime(err error) error {
	if errors.Is(err, replica.ErrTimeout) {
		return mongoerr.Errorf(mongoerr.MaxTimeMSExpired, "operation exceeded time limit")
	}
	return err
}

func checkReadable(x Locked) error {
	switch {
	case x.Client.Epoch != x.Client.Member.Epoch:
		return ErrHangUp
	case x.Client.Member.Role == replica.Primary:
		return nil
	case !x.Command.secondaryOk:
		return mongoerr.Errorf(mongoerr.NotPrimaryNoSecondaryOk, "not primary and secondaryOk=false")
	case x.Command.ReadConcern == LinearizableConcern:
		return mongoerr.Errorf(mongoerr.NotWritablePrimary, "cannot satisfy linearizable read concern on non-primary node")
	case !x.Client.Member.Config.BearsData() || x.Client.Member.Stale:
		return mongoerr.Errorf(mongoerr.NotPrimaryOrSecondary, "node is not in primary or recovering state")
	}
	return nil
}

// limit is how long the command may wait, negative if it may as long as it wants.
func limit(x *Call) time.Duration {
	if x.Command.MaxTime == 0 {
		return -1
	}
	return x.Command.MaxTime
}

// CheckOplog refuses to write into the oplog.
func (x *Call) CheckOplog(ns string) error {
	switch {
	case ns != store.OplogName || x.Client.Set.Standalone:
		return nil
	case x.Command.Name == "drop":
		return mongoerr.Errorf(mongoerr.IllegalOperation, "can't drop live oplog while replicating")
	case x.Command.Name == "renameCollection":
		return mongoerr.Errorf(mongoerr.IllegalOperation, "cannot rename live oplog while replicating")
	}
	return mongoerr.Errorf(mongoerr.InvalidNamespace, "cannot write to %s", ns)
}
