package mongotest

// kind says what an oplog entry does.
type kind uint8

const (
	noop kind = iota
	put       // insert or update: after is the document now, before the one that was there, if any
	remove
	create
	drop
)

// entry is one operation of the oplog. It is immutable, and the members that have it share it: two members' logs agree up
// to an index exactly when they hold the same entry there.
type entry struct {
	term   int64
	ts     timestamp
	kind   kind
	ns     string
	key    string // of the document
	before []byte
	after  []byte

	session   *sessionRef
	journaled *Entry
	written   int64 // nanoseconds of the clock, for the replication delay
}

// sessionRef makes an entry the record of a retryable statement.
type sessionRef struct {
	lsid string
	txn  int64
	stmt int32
}

// slot is a place in one member's oplog: the entry, and what undoing it there needs.
type slot struct {
	*entry
	previous *statement  // the newest record of the entry's session before
	dropped  *collection // what a drop removed
}

// oplog is one member's oplog. Indexes count from 1; those up to base have been trimmed.
type oplog struct {
	base  int64
	slots []slot
}

func (l *oplog) last() int64 { return l.base + int64(len(l.slots)) }

// at returns the entry at an index, nil if there is none.
func (l *oplog) at(index int64) *entry {
	if index <= l.base || index > l.last() {
		return nil
	}
	return l.slots[index-l.base-1].entry
}

// tail returns the newest entry. There always is one: every primary begins with a no-op.
func (l *oplog) tail() *entry { return l.at(l.last()) }

// trim forgets entries before an index, in large steps.
func (l *oplog) trim(before int64) {
	const step = 4096
	if n := before - l.base - 1; n >= step && n < int64(len(l.slots)) {
		kept := make([]slot, int64(len(l.slots))-n, cap(l.slots))
		copy(kept, l.slots[n:])
		l.slots, l.base = kept, l.base+n
	}
}

// timestamp is a BSON timestamp: seconds in the high half, a counter in the low.
type timestamp uint64

func (t timestamp) seconds() uint32   { return uint32(t >> 32) }
func (t timestamp) increment() uint32 { return uint32(t) }

// statement is a session's record of one executed statement of its newest transaction number.
type statement struct {
	*sessionRef
	entry *entry
	prev  *statement // an earlier one of the same number
}

// session is what a member knows of a session.
type session struct {
	key    string
	active int64 // the highest transaction number that began, even if it changed nothing
	head   *statement
}

func (s *session) record(e *entry) {
	head := &statement{sessionRef: e.session, entry: e}
	if s.head != nil && s.head.txn == e.session.txn {
		head.prev = s.head
	}
	s.head = head
	s.active = max(s.active, e.session.txn)
}

// executed returns the entry of a statement that was executed before, nil if there is none.
func (s *session) executed(txn int64, stmt int32) *entry {
	for r := s.head; r != nil && r.txn == txn; r = r.prev {
		if r.stmt == stmt {
			return r.entry
		}
	}
	return nil
}

// applyLocked appends an entry to the member's oplog and does what it says.
func (m *member) applyLocked(e *entry) {
	s := slot{entry: e}
	switch e.kind {
	case put:
		m.collectionLocked(e.ns).put(e.key, e.after)
	case remove:
		m.collectionLocked(e.ns).remove(e.key)
	case create:
		m.collectionLocked(e.ns)
	case drop:
		s.dropped = m.collections[e.ns]
		delete(m.collections, e.ns)
	case noop:
	}
	if e.session != nil {
		known := m.sessionLocked(e.session.lsid)
		s.previous = known.head
		known.record(e)
	}
	m.log.slots = append(m.log.slots, s)
	m.lastTS.Store(uint64(e.ts))
}

// undoLocked takes the newest entry back.
func (m *member) undoLocked() {
	last := len(m.log.slots) - 1
	s := m.log.slots[last]
	m.log.slots[last] = slot{}
	m.log.slots = m.log.slots[:last]
	if last > 0 {
		m.lastTS.Store(uint64(m.log.slots[last-1].ts))
	}
	switch {
	case s.kind == drop:
		m.collections[s.ns] = s.dropped
	case s.kind == create:
		delete(m.collections, s.ns)
	case s.kind == noop:
	case s.before == nil:
		m.collectionLocked(s.ns).remove(s.key)
	default:
		m.collectionLocked(s.ns).put(s.key, s.before)
	}
	if s.session != nil {
		known := m.sessionLocked(s.session.lsid)
		known.head, known.active = s.previous, 0
		if s.previous != nil {
			known.active = s.previous.txn
		}
	}
	if s.journaled != nil {
		m.set.journal.mark([]*Entry{s.journaled}, func(e *Entry) { e.RolledBack = true })
	}
}

func (m *member) collectionLocked(ns string) *collection {
	c := m.collections[ns]
	if c == nil {
		c = newCollection()
		m.collections[ns] = c
	}
	return c
}

func (m *member) sessionLocked(lsid string) *session {
	s := m.sessions[lsid]
	if s == nil {
		s = &session{key: lsid}
		m.sessions[lsid] = s
	}
	return s
}
