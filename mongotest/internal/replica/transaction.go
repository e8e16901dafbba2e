package replica

import (
	"slices"
	"time"

	"github.com/holdfast-db/holdfast/mongotest/internal/currentop"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/parameter"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// Transaction is a transaction that began at this member. It works on copies of the collections as they were when it began,
// and what it writes becomes one entry of the oplog when it is committed.
type Transaction struct {
	Member  *Member
	Session *store.Session
	Number  int64
	State   TransactionState
	at      int64         // index of the log that it sees
	Data    store.Catalog // copies of the collections that it touched, nil for those that there were not
	Writes  []store.Slot
	locks   []lock
	expiry  *time.Timer
	Use     currentop.Use

	Lifetime time.Duration // how long it may be open
	Entry    int64         // index up to which its commit's write concern waits
}

// TransactionState is whether a transaction is open, or how it ended.
type TransactionState uint8

// The states of a transaction.
const (
	Running TransactionState = iota
	Committed
	Aborted
)

// lock is what a transaction keeps others from writing until it ends.
type lock struct {
	ns    string
	index string // of which key is; "" if it is the document's own; wholeCollection
	key   string
}

const wholeCollection = "*"

// BeginLocked begins a transaction of a session, which ends the one before.
func (m *Member) BeginLocked(s *store.Session, number, at int64) *Transaction {
	if old := m.Transactions[s.Key]; old != nil {
		old.AbortLocked()
	}
	t := &Transaction{Member: m, Session: s, Number: number, at: at, Data: make(store.Catalog)}
	m.Transactions[s.Key], s.Active = t, number
	m.Open[t] = struct{}{}
	t.Lifetime = m.Parameters.Seconds(parameter.TransactionLifetime)
	t.expiry = time.AfterFunc(t.Lifetime, func() {
		m.Set.mu.Lock()
		defer m.Set.mu.Unlock()
		t.AbortLocked()
	})
	return t
}

// CollectionLocked returns the transaction's copy of a collection, nil if there was none when it began.
func (t *Transaction) CollectionLocked(ns string) (*store.Collection, error) {
	c, touched := t.Data[ns]
	if touched {
		return c, nil
	}
	for s := range t.Member.Data.Changes(t.at) {
		if s.Op.OfCatalog() && (s.NS == ns || s.Change != nil && s.Change.To == ns) {
			return nil, mongoerr.Errorf(mongoerr.SnapshotUnavailable, "Unable to read from a snapshot due to pending collection catalog changes; "+
				"please retry the operation. Collection: %s", ns)
		}
	}
	if c = t.Member.Data.Snapshot(ns, t.at); c != nil {
		c = c.Clone()
	}
	t.Data[ns] = c
	return c, nil
}

// WriteLocked does what an entry says to the transaction's copies, unless somebody else has written there since it began.
func (t *Transaction) WriteLocked(e *store.Entry) error {
	if e.Op == store.Drop || e.Op == store.Rename {
		return mongoerr.Errorf(mongoerr.OperationNotSupportedInTransaction, "mongotest: the operation is not supported in a transaction")
	}
	c, err := t.CollectionLocked(e.NS)
	if err != nil {
		return err
	}
	if c != nil && c.Def.Options.Capped {
		return mongoerr.Errorf(mongoerr.OperationNotSupportedInTransaction,
			"Collection '%s' is a capped collection. Writes in transactions are not allowed on "+
				"capped collections.", e.NS)
	}
	wanted := t.Member.LocksOfLocked(e, c)
	if t.Member.BlockerLocked(e, wanted, t) != nil || t.outdated(e) {
		return mongoerr.Errorf(mongoerr.WriteConflict, "Caused by :: Write conflict during plan execution and yielding is disabled. :: Please retry "+
			"your operation or multi-document transaction.")
	}
	for _, l := range wanted {
		if t.Member.locks[l] == nil {
			t.Member.locks[l] = t
			t.locks = append(t.locks, l)
		}
	}
	t.Writes = append(t.Writes, t.Data.Apply(e))
	return nil
}

// Savepoint is a state of a transaction that it can be taken back to.
type Savepoint struct{ writes, locks int }

// SavepointLocked returns the state of now.
func (t *Transaction) SavepointLocked() Savepoint { return Savepoint{len(t.Writes), len(t.locks)} }

// RollbackLocked undoes what the transaction wrote after a savepoint, and gives up the locks that it took for that.
func (t *Transaction) RollbackLocked(to Savepoint) {
	if t.State != Running {
		return
	}
	for last := len(t.Writes) - 1; last >= to.writes; last-- {
		t.Data.Undo(&t.Writes[last])
	}
	t.Writes = t.Writes[:to.writes]
	if len(t.locks) > to.locks {
		t.unlockLocked(to.locks)
		t.Member.Set.ChangedLocked()
	}
}

// unlockLocked gives up the locks that the transaction took after its first ones.
func (t *Transaction) unlockLocked(first int) {
	m := t.Member
	if first == 0 && len(t.locks) == len(m.locks) {
		m.locks = make(map[lock]*Transaction) // there are no others: it need not look each up
	} else {
		for _, l := range t.locks[first:] {
			delete(m.locks, l)
		}
	}
	t.locks = t.locks[:first]
}

// entries returns what the transaction wrote.
func (t *Transaction) entries() []*store.Entry {
	list := make([]*store.Entry, len(t.Writes))
	for i := range t.Writes {
		list[i] = t.Writes[i].Entry
	}
	return list
}

// Created reports whether the transaction has created a collection.
func (t *Transaction) Created(ns string) bool {
	return slices.ContainsFunc(t.Writes, func(s store.Slot) bool { return s.Op == store.Create && s.NS == ns })
}

// outdated reports whether the transaction sees something else than there is where an entry writes.
func (t *Transaction) outdated(e *store.Entry) bool {
	now := t.Member.Data.Collections[e.NS]
	if e.Op != store.Put && e.Op != store.Remove {
		return e.Op == store.Create && now != nil
	}
	if now == nil {
		return false
	}
	if t.Member.locks[lock{e.NS, "", e.Key}] != t && !store.SameDocument(now.Document(e.Key), e.Before) {
		return true
	}
	for _, u := range now.Uniques {
		keys, _ := u.Keys(e.After)
		for _, k := range keys {
			if r := u.Holders[k.Encode()]; e.After != nil && r != nil && r.Key != e.Key && t.Member.locks[lock{e.NS, "", r.Key}] != t {
				return true
			}
		}
	}
	return false
}

// LocksOfLocked returns what an entry's writer must have for itself.
func (m *Member) LocksOfLocked(e *store.Entry, c *store.Collection) []lock {
	if e.Op != store.Put && e.Op != store.Remove {
		return []lock{{e.NS, wholeCollection, ""}}
	}
	list := []lock{{e.NS, "", e.Key}}
	if c == nil {
		return list
	}
	for _, u := range c.Uniques {
		for _, doc := range [...][]byte{e.Before, e.After} {
			if doc == nil {
				continue
			}
			keys, _ := u.Keys(doc)
			for _, k := range keys {
				list = append(list, lock{e.NS, u.Name, k.Encode()})
			}
		}
	}
	return list
}

// BlockerLocked returns the transaction, other than t, that keeps an entry from being written, nil if none does.
func (m *Member) BlockerLocked(e *store.Entry, wanted []lock, t *Transaction) *Transaction {
	if len(m.Open) == 0 || len(m.Open) == 1 && t != nil {
		return nil
	}
	if held := m.locks[lock{e.NS, wholeCollection, ""}]; held != nil && held != t {
		return held
	}
	for _, l := range wanted {
		if held := m.locks[l]; held != nil && held != t {
			return held
		}
	}
	if e.Op == store.Put || e.Op == store.Remove {
		return nil
	}
	for other := range m.Open {
		if other != t && (other.Data[e.NS] != nil || e.Change != nil && other.Data[e.Change.To] != nil) {
			return other
		}
	}
	return nil
}

// CommitLocked makes what the transaction wrote an entry of the oplog.
func (t *Transaction) CommitLocked() {
	m := t.Member
	t.endLocked(Committed)
	if len(t.Writes) > 0 {
		m.AppendLocked(&store.Entry{
			Op: store.Group, Parts: t.entries(), Session: &store.SessionRef{LSID: t.Session.Key, Txn: t.Number, Stmt: store.Committing},
		})
	}
	t.Entry = m.Data.Log.Last()
	t.Data, t.Writes = nil, nil
	m.PublishLocked()
}

// AbortLocked ends the transaction without a trace, if it has not ended.
func (t *Transaction) AbortLocked() {
	if t.State == Running {
		t.endLocked(Aborted)
		t.Data, t.Writes = nil, nil
	}
}

func (t *Transaction) endLocked(how TransactionState) {
	m := t.Member
	t.State = how
	t.expiry.Stop()
	delete(m.Open, t)
	t.unlockLocked(0)
	t.locks = nil
	m.Set.TransactionEndedLocked(t)
	m.Set.ChangedLocked() // who waits for a lock
}

// abortAllLocked ends every transaction of the member, which is no longer the primary.
func (m *Member) abortAllLocked() {
	for t := range m.Open {
		t.AbortLocked()
	}
}
