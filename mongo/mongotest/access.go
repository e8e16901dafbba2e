package mongotest

import (
	"errors"
	"time"

	"github.com/holdfast-db/holdfast/internal/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// writing runs apply as the primary, with the set's mutex held, and publishes what it wrote.
func (x *exec) writing(apply func(m *member) error) error {
	rs, m := x.set, x.member
	if w := &x.writeConcern; rs.config.standalone && w.members > 1 {
		return failf(codeBadValue, "cannot use 'w' > 1 when a host is not replicated")
	}
	rs.mu.Lock()
	x.term = m.term
	if err := x.writableLocked(); err != nil {
		rs.mu.Unlock()
		return err
	}
	release := func() {}
	if x.hook.AfterApply != nil {
		release = m.holdLocked()
	}
	since := m.log.last()
	err := apply(m)
	if hangUp := x.failWriteLocked(since); hangUp != nil {
		err = hangUp
	}
	x.applied = m.log.last()
	x.addEntries()
	m.publishLocked()
	rs.mu.Unlock()
	if x.hook.AfterApply != nil {
		x.hook.AfterApply()
		release()
	}
	return err
}

// writableLocked tells why the member takes no write of this command, nil if it does.
func (x *exec) writableLocked() error {
	m := x.member
	switch {
	case x.epoch != m.epoch:
		return errHangUp
	case m.role != primary:
		return failf(codeNotWritablePrimary, "not primary")
	case !x.hasTxn:
		return nil
	}
	s := m.sessions[string(x.lsid)]
	if s == nil {
		s = m.sessionLocked(string(x.lsid))
	}
	if x.txn < s.active {
		return failf(codeTransactionTooOld, "Retryable write with txnNumber %d is prohibited on session %s because a newer "+
			"retryable write with txnNumber %d has already started on this session.", x.txn, sessionName(x.lsid), s.active)
	}
	s.active = x.txn
	return nil
}

// executedLocked returns the oplog entry of a statement that this session executed before, nil if there is none.
func (x *exec) executedLocked(stmt int32) *entry {
	if !x.hasTxn || x.set.config.mutant.NoDeduplication {
		return nil
	}
	return x.member.sessions[string(x.lsid)].executed(x.txn, stmt)
}

// sessionRefLocked returns what makes an oplog entry the record of a statement, nil without a transaction number.
func (x *exec) sessionRefLocked(stmt int32) *sessionRef {
	if !x.hasTxn {
		return nil
	}
	return &sessionRef{x.member.sessions[string(x.lsid)].key, x.txn, stmt}
}

// storeLocked writes a document in place of the one that was there, if any.
func (x *exec) storeLocked(key string, before, after []byte, stmt int32, note *Entry) {
	e := &entry{kind: put, ns: x.full, key: key, before: before, after: after}
	if after == nil {
		e.kind = remove
	}
	x.appendLocked(e, stmt, note)
	if c := x.member.collections[x.full]; before == nil && c.def.options.capped {
		for r := c.oldest(); c.overflows() && r.key != key; r = c.oldest() {
			x.member.appendLocked(&entry{kind: remove, ns: x.full, key: r.key, before: r.doc})
		}
	}
}

func (x *exec) appendLocked(e *entry, stmt int32, note *Entry) {
	if e.kind == put && x.member.collections[e.ns] == nil {
		x.member.appendLocked(&entry{kind: create, ns: e.ns, change: &change{after: newDefinition(collectionOptions{})}})
	}
	if stmt >= 0 {
		e.session = x.sessionRefLocked(stmt)
	}
	e.journaled = note
	note.Applied = true
	x.member.appendLocked(e)
}

// reading returns with the set's mutex held if the member may answer a read of this command.
func (x *exec) reading() error {
	rs, m := x.set, x.member
	rs.mu.Lock()
	err := x.readableLocked()
	if err == nil && x.after > timestamp(m.lastTS.Load()) {
		w := newWaiter(func() bool { return x.epoch != m.epoch || timestamp(m.lastTS.Load()) >= x.after })
		err = x.inTime(rs.awaitLocked(w, x.done, x.limit()))
		if err == nil {
			err = x.readableLocked()
		}
	}
	x.term = m.term
	if err != nil {
		rs.mu.Unlock()
	}
	return err
}

// inTime makes an error reply of a wait that took longer than maxTimeMS.
func (x *exec) inTime(err error) error {
	if errors.Is(err, errTimeout) {
		return failf(codeMaxTimeMSExpired, "operation exceeded time limit")
	}
	return err
}

func (x *exec) readableLocked() error {
	switch {
	case x.epoch != x.member.epoch:
		return errHangUp
	case x.member.role == primary || x.secondaryOk:
		return nil
	}
	return failf(codeNotPrimaryNoSecondaryOk, "not primary and secondaryOk=false")
}

// eachLocked calls visit with every document of the command's collection that matches, as the read concern sees it.
func (x *exec) eachLocked(h *hint, f *query.Filter, visit func(doc []byte) bool) error {
	keyed := func(_ string, doc []byte) bool { return visit(doc) }
	if x.readConcern == "majority" && x.member.commit < x.member.log.last() {
		c := x.member.committedCollectionLocked(x.full)
		if _, err := h.resolve(x.full, c); err != nil {
			return err
		}
		x.member.matchCommittedLocked(x.full, h, f, keyed)
		return nil
	}
	return x.member.collections[x.full].findBy(x.full, h, f, keyed)
}

// simpleCollation refuses every collation but the one that compares bytes.
func simpleCollation(command string, e *wire.Element) error {
	doc := e.Document()
	it := wire.Elements(doc)
	if doc == nil || !it.Next() || string(it.Key) == "locale" && string(it.Text()) == "simple" {
		return nil
	}
	return unsupportedField(command, "collation")
}

// limit is how long the command may wait, negative if it may as long as it wants.
func (x *exec) limit() time.Duration {
	if x.maxTime == 0 {
		return -1
	}
	return x.maxTime
}
