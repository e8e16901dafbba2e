package mongotest

import (
	"time"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
)

// transaction is a transaction that began at this member. It works on copies of the collections as they were when it began,
// and what it writes becomes one entry of the oplog when it is committed.
type transaction struct {
	member  *member
	session *session
	number  int64
	state   transactionState
	at      int64   // index of the log that it sees
	data    catalog // copies of the collections that it touched, nil for those that there were not
	writes  []*entry
	locks   []lock
	expiry  *time.Timer
	entry   int64 // index up to which its commit's write concern waits
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
func (m *member) beginLocked(s *session, number, at int64) *transaction {
	if s.txn != nil {
		s.txn.abortLocked()
	}
	t := &transaction{member: m, session: s, number: number, at: at, data: make(catalog)}
	s.txn, s.active = t, number
	m.open[t] = struct{}{}
	seconds, _ := m.parameters[transactionLifetime].value.Integer()
	t.expiry = time.AfterFunc(time.Duration(seconds)*time.Second, func() {
		m.set.mu.Lock()
		defer m.set.mu.Unlock()
		t.abortLocked()
	})
	return t
}

// collection returns the transaction's copy of a collection, nil if there was none when it began.
func (t *transaction) collection(ns string) (*collection, error) {
	c, touched := t.data[ns]
	if touched {
		return c, nil
	}
	for s := range t.member.changesLocked(t.at) {
		if s.kind.ofCatalog() && (s.ns == ns || s.change != nil && s.change.to == ns) {
			return nil, mongoerr.Errorf(mongoerr.SnapshotUnavailable, "Unable to read from a snapshot due to pending collection catalog changes; "+
				"please retry the operation. Collection: %s", ns)
		}
	}
	if c = t.member.snapshotLocked(ns, t.at); c != nil {
		c = c.clone()
	}
	t.data[ns] = c
	return c, nil
}

// write does what an entry says to the transaction's copies, unless somebody else has written there since it began.
func (t *transaction) write(e *entry) error {
	if e.kind == drop || e.kind == rename {
		return mongoerr.Errorf(mongoerr.OperationNotSupportedInTransaction, "mongotest: the operation is not supported in a transaction")
	}
	c, err := t.collection(e.ns)
	if err != nil {
		return err
	}
	if c != nil && c.def.options.capped {
		return mongoerr.Errorf(mongoerr.OperationNotSupportedInTransaction, "Collection '%s' is a capped collection. Writes in transactions are not allowed on "+
			"capped collections.", e.ns)
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
	t.data.apply(e)
	t.writes = append(t.writes, e)
	return nil
}

// outdated tells whether the transaction sees something else than there is where an entry writes.
func (t *transaction) outdated(e *entry) bool {
	now := t.member.collections[e.ns]
	if e.kind != put && e.kind != remove {
		return e.kind == create && now != nil
	}
	if now == nil {
		return false
	}
	if t.member.locks[lock{e.ns, "", e.key}] != t && !sameDocument(now.at(e.key), e.before) {
		return true
	}
	for _, u := range now.uniques {
		keys, _ := u.keys(e.after)
		for _, k := range keys {
			if r := u.holders[k.encode()]; e.after != nil && r != nil && r.key != e.key && t.member.locks[lock{e.ns, "", r.key}] != t {
				return true
			}
		}
	}
	return false
}

// at returns the document with a key, nil if there is none.
func (c *collection) at(key string) []byte {
	if r := c.byID[key]; r != nil {
		return r.doc
	}
	return nil
}

// sameDocument tells whether two stored documents are one and the same: documents never change, they are replaced.
func sameDocument(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	return &a[0] == &b[0]
}

// locksOf returns what an entry's writer must have for itself.
func (m *member) locksOf(e *entry, c *collection) []lock {
	if e.kind != put && e.kind != remove {
		return []lock{{e.ns, wholeCollection, ""}}
	}
	list := []lock{{e.ns, "", e.key}}
	if c == nil {
		return list
	}
	for _, u := range c.uniques {
		for _, doc := range [...][]byte{e.before, e.after} {
			if doc == nil {
				continue
			}
			keys, _ := u.keys(doc)
			for _, k := range keys {
				list = append(list, lock{e.ns, u.name, k.encode()})
			}
		}
	}
	return list
}

// heldLocked returns the transaction, other than t, that keeps an entry from being written, nil if none does.
func (m *member) heldLocked(e *entry, wanted []lock, t *transaction) *transaction {
	if len(m.open) == 0 || len(m.open) == 1 && t != nil {
		return nil
	}
	if held := m.locks[lock{e.ns, wholeCollection, ""}]; held != nil && held != t {
		return held
	}
	for _, l := range wanted {
		if held := m.locks[l]; held != nil && held != t {
			return held
		}
	}
	if e.kind == put || e.kind == remove {
		return nil
	}
	for other := range m.open {
		if other != t && (other.data[e.ns] != nil || e.change != nil && other.data[e.change.to] != nil) {
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
		m.appendLocked(&entry{kind: group, parts: t.writes, session: &sessionRef{t.session.key, t.number, committing}})
		m.set.journal.mark(m.log.tail().notes(), func(e *Entry) { e.Applied = true })
	}
	t.entry = m.log.last()
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
		if c.lsid == t.session.key && c.txn == t.number {
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
