package mongotest

// kind says what an oplog entry does.
type kind uint8

const (
	noop kind = iota
	put       // insert or update: after is the document now, before the one that was there, if any
	remove
	create
	drop
	alter  // the collection gets another definition
	rename // the collection gets another namespace
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
	change *change // of create, alter and rename

	session   *sessionRef
	journaled *Entry
	written   int64 // nanoseconds of the clock, for the replication delay
}

// change is what an entry does to a collection as a whole.
type change struct {
	before, after *definition
	to            string // the namespace after a rename
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
	on       *collection // what it was done to
	replaced *collection // what had the namespace that a rename gave to another
	removed  *record     // what a remove took away
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
	s := slot{entry: e, on: m.collections[e.ns]}
	switch e.kind {
	case put:
		s.on.put(e.key, e.after)
	case remove:
		s.removed = s.on.remove(e.key)
	case create:
		s.on = newCollection(e.change.after)
		m.collections[e.ns] = s.on
	case drop:
		delete(m.collections, e.ns)
	case alter:
		s.on.define(e.change.after)
	case rename:
		s.replaced = m.collections[e.change.to]
		delete(m.collections, e.ns)
		m.collections[e.change.to] = s.on
		s.on.def = e.change.after
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
	m.undoChangeLocked(&s)
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

// undoChangeLocked takes back what an entry did to the data.
func (m *member) undoChangeLocked(s *slot) {
	switch s.kind {
	case put:
		if s.before == nil {
			s.on.remove(s.key)
		} else {
			s.on.put(s.key, s.before)
		}
	case remove:
		s.on.restore(s.removed, s.before)
	case create:
		delete(m.collections, s.ns)
	case drop:
		m.collections[s.ns] = s.on
	case alter:
		s.on.define(s.change.before)
	case rename:
		delete(m.collections, s.change.to)
		if s.replaced != nil {
			m.collections[s.change.to] = s.replaced
		}
		m.collections[s.ns] = s.on
		s.on.def = s.change.before
	case noop:
	}
}

func (m *member) sessionLocked(lsid string) *session {
	s := m.sessions[lsid]
	if s == nil {
		s = &session{key: lsid}
		m.sessions[lsid] = s
	}
	return s
}
