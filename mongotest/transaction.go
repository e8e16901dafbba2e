package mongotest

import (
	"slices"
	"time"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/parameter"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// transaction is a transaction that began at this member. It works on copies of the collections as they were when it began,
// and what it writes becomes one entry of the oplog when it is committed.
type transaction struct {
	member  *member
	session *store.Session
	number  int64
	state   transactionState
	at      int64         // index of the log that it sees
	data    store.Catalog // copies of the collections that it touched, nil for those that there were not
	writes  []store.Slot
	locks   []lock
	expiry  *time.Timer
	use     owner

	lifetime time.Duration // how long it may be open
	entry    int64         // index up to which its commit's write concern waits
}

type transactionState uint8

const (
	running transactionState = iota
	committed
	aborted
)

// lock is what a transaction keeps others from writing until it ends.
type lock struct {
	ns    string
	index string // of which key is; "" if it is the document's own; wholeCollection
	key   string
}

const wholeCollection = "*"

// beginLocked begins a transaction of a session, which ends the one before.
func (m *member) beginLocked(s *store.Session, number, at int64) *transaction {
	if old := m.transactions[s.Key]; old != nil {
		old.abortLocked()
	}
	t := &transaction{member: m, session: s, number: number, at: at, data: make(store.Catalog)}
	m.transactions[s.Key], s.Active = t, number
	m.open[t] = struct{}{}
	t.lifetime = m.parameters.Seconds(parameter.TransactionLifetime)
	t.expiry = time.AfterFunc(t.lifetime, func() {
		m.set.mu.Lock()
		defer m.set.mu.Unlock()
		t.abortLocked()
	})
	return t
}

// collection returns the transaction's copy of a collection, nil if there was none when it began.
func (t *transaction) collection(ns string) (*store.Collection, error) {
	c, touched := t.data[ns]
	if touched {
		return c, nil
	}
	for s := range t.member.data.Changes(t.at) {
		if s.Kind.OfCatalog() && (s.NS == ns || s.Change != nil && s.Change.To == ns) {
			return nil, mongoerr.Errorf(mongoerr.SnapshotUnavailable, "Unable to read from a snapshot due to pending collection catalog changes; "+
				"please retry the operation. Collection: %s", ns)
		}
	}
	if c = t.member.data.Snapshot(ns, t.at); c != nil {
		c = c.Clone()
	}
	t.data[ns] = c
	return c, nil
}

// write does what an entry says to the transaction's copies, unless somebody else has written there since it began.
func (t *transaction) write(e *store.Entry) error {
	if e.Kind == store.Drop || e.Kind == store.Rename {
		return mongoerr.Errorf(mongoerr.OperationNotSupportedInTransaction, "mongotest: the operation is not supported in a transaction")
	}
	c, err := t.collection(e.NS)
	if err != nil {
		return err
	}
	if c != nil && c.Def.Options.Capped {
		return mongoerr.Errorf(mongoerr.OperationNotSupportedInTransaction,
			"Collection '%s' is a capped collection. Writes in transactions are not allowed on "+
				"capped collections.", e.NS)
	}
	wanted := t.member.locksOf(e, c)
	if t.member.heldLocked(e, wanted, t) != nil || t.outdated(e) {
		return mongoerr.Errorf(mongoerr.WriteConflict, "Caused by :: Write conflict during plan execution and yielding is disabled. :: Please retry "+
			"your operation or multi-document transaction.")
	}
	for _, l := range wanted {
		if t.member.locks[l] == nil {
			t.member.locks[l] = t
			t.locks = append(t.locks, l)
		}
	}
	t.writes = append(t.writes, t.data.Apply(e))
	return nil
}

// savepoint is a state of a transaction that it can be taken back to.
type savepoint struct{ writes, locks int }

func (t *transaction) savepoint() savepoint { return savepoint{len(t.writes), len(t.locks)} }

// rollbackLocked undoes what the transaction wrote after a savepoint, and gives up the locks that it took for that.
func (t *transaction) rollbackLocked(to savepoint) {
	if t.state != running {
		return
	}
	for last := len(t.writes) - 1; last >= to.writes; last-- {
		t.data.Undo(&t.writes[last])
	}
	t.writes = t.writes[:to.writes]
	for _, l := range t.locks[to.locks:] {
		delete(t.member.locks, l)
	}
	if len(t.locks) > to.locks {
		t.locks = t.locks[:to.locks]
		t.member.set.changedLocked()
	}
}

// entries returns what the transaction wrote.
func (t *transaction) entries() []*store.Entry {
	list := make([]*store.Entry, len(t.writes))
	for i := range t.writes {
		list[i] = t.writes[i].Entry
	}
	return list
}

// created reports whether the transaction has created a collection.
func (t *transaction) created(ns string) bool {
	return slices.ContainsFunc(t.writes, func(s store.Slot) bool { return s.Kind == store.Create && s.NS == ns })
}

// outdated reports whether the transaction sees something else than there is where an entry writes.
func (t *transaction) outdated(e *store.Entry) bool {
	now := t.member.data.Collections[e.NS]
	if e.Kind != store.Put && e.Kind != store.Remove {
		return e.Kind == store.Create && now != nil
	}
	if now == nil {
		return false
	}
	if t.member.locks[lock{e.NS, "", e.Key}] != t && !store.SameDocument(now.Document(e.Key), e.Before) {
		return true
	}
	for _, u := range now.Uniques {
		keys, _ := u.Keys(e.After)
		for _, k := range keys {
			if r := u.Holders[k.Encode()]; e.After != nil && r != nil && r.Key != e.Key && t.member.locks[lock{e.NS, "", r.Key}] != t {
				return true
			}
		}
	}
	return false
}

// locksOf returns what an entry's writer must have for itself.
func (m *member) locksOf(e *store.Entry, c *store.Collection) []lock {
	if e.Kind != store.Put && e.Kind != store.Remove {
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

// heldLocked returns the transaction, other than t, that keeps an entry from being written, nil if none does.
func (m *member) heldLocked(e *store.Entry, wanted []lock, t *transaction) *transaction {
	if len(m.open) == 0 || len(m.open) == 1 && t != nil {
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
	if e.Kind == store.Put || e.Kind == store.Remove {
		return nil
	}
	for other := range m.open {
		if other != t && (other.data[e.NS] != nil || e.Change != nil && other.data[e.Change.To] != nil) {
			return other
		}
	}
	return nil
}

// commitLocked makes what the transaction wrote an entry of the oplog.
func (t *transaction) commitLocked() {
	m := t.member
	t.endLocked(committed)
	if len(t.writes) > 0 {
		m.appendLocked(&store.Entry{
			Kind: store.Group, Parts: t.entries(), Session: &store.SessionRef{LSID: t.session.Key, Txn: t.number, Stmt: store.Committing},
		})
	}
	t.entry = m.data.Log.Last()
	t.data, t.writes = nil, nil
	m.publishLocked()
}

// abortLocked ends the transaction without a trace, if it has not ended.
func (t *transaction) abortLocked() {
	if t.state == running {
		t.endLocked(aborted)
		t.data, t.writes = nil, nil
	}
}

func (t *transaction) endLocked(how transactionState) {
	m := t.member
	t.state = how
	t.expiry.Stop()
	delete(m.open, t)
	for _, l := range t.locks {
		delete(m.locks, l)
	}
	t.locks = nil
	for id, c := range m.cursors {
		if c.lsid == t.session.Key && c.txn == t.number {
			delete(m.cursors, id)
		}
	}
	m.set.changedLocked() // who waits for a lock
}

// abortAllLocked ends every transaction of the member, which is no longer the primary.
func (m *member) abortAllLocked() {
	for t := range m.open {
		t.abortLocked()
	}
}
