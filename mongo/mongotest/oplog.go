package mongotest

import (
	"fmt"
	"sort"
	"sync/atomic"
)

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
	group  // its parts, all or none: a transaction
	empty  // the database, which ns is, has lost its last collection by dropDatabase
)

// ofCatalog tells whether an entry of the kind is about a collection as a whole.
func (k kind) ofCatalog() bool { return k == create || k == drop || k == alter || k == rename }

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
	change *change  // of create, alter and rename
	parts  []*entry // of a group

	collection uuid
	whole      bool // it puts another document in the place of one, instead of changing fields
	images     bool // the collection keeps what change streams tell of documents before and after
	view       bool // the collection is none
	shardKey   []byte

	session *sessionRef
	outcome *outcomeOf // nil if nobody asks
	written int64      // nanoseconds of the clock
}

// outcomeOf is what became of an entry. It may be read at any time.
type outcomeOf struct {
	applied, rolledBack atomic.Bool
}

// reset forgets what became of the entry, which is as good as never written.
func (o *outcomeOf) reset() {
	o.applied.Store(false)
	o.rolledBack.Store(false)
}

// applied notes that the entry was done, with its parts.
func (e *entry) applied() {
	if e.outcome != nil {
		e.outcome.applied.Store(true)
	}
	for _, part := range e.parts {
		part.applied()
	}
}

// undone notes that the entry was taken back, with its parts.
func (e *entry) undone() {
	if e.outcome != nil {
		e.outcome.rolledBack.Store(true)
	}
	for _, part := range e.parts {
		part.undone()
	}
}

// replaces notes which collection a rename replaces, nil for none.
func (c *change) replaces(target *collection) {
	if target != nil {
		c.target = &target.def.uuid
	}
}

// concern notes what readers of the entry must know of its collection.
func (e *entry) concern(d *definition) {
	e.collection, e.images, e.view, e.shardKey = d.uuid, d.options.images, d.options.viewOn != "", d.shardKey
}

// change is what an entry does to a collection as a whole.
type change struct {
	before, after *definition
	to            string // the namespace after a rename
	target        *uuid  // of the collection that a rename replaces, nil for none
	asked         []byte // the arguments of a collMod
	sharded       []byte // how the collection was sharded
}

// sessionRef makes an entry the record of a retryable statement, or of a transaction that was committed.
type sessionRef struct {
	lsid string
	txn  int64
	stmt int32
}

// committing stands for a transaction's commit where a statement's number is expected.
const committing int32 = -2

// slot is a place in one member's oplog: the entry, and what undoing it there needs.
type slot struct {
	*entry
	previous *statement  // the newest record of the entry's session before
	on       *collection // what it was done to
	replaced *collection // what had the namespace that a rename gave to another
	removed  *record     // what a remove took away
	parts    []slot      // of a group
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
func (t timestamp) text() string {
	return fmt.Sprintf("{ ts: Timestamp(%d, %d) }", t.seconds(), t.increment())
}

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

// committed tells whether a transaction is known to have been committed, here or by an earlier primary.
func (s *session) committed(txn int64) bool { return s.executed(txn, committing) != nil }

// catalog is collections by their namespaces.
type catalog map[string]*collection

// apply does what an entry says.
func (c catalog) apply(e *entry) slot {
	s := slot{entry: e, on: c[e.ns]}
	switch e.kind {
	case put:
		s.on.put(e.key, e.after)
	case remove:
		s.removed = s.on.remove(e.key)
	case create:
		s.on = newCollection(e.change.after)
		c[e.ns] = s.on
	case drop:
		delete(c, e.ns)
	case alter:
		s.on.define(e.change.after)
	case rename:
		s.replaced = c[e.change.to]
		delete(c, e.ns)
		c[e.change.to] = s.on
		s.on.def = e.change.after
	case group:
		for _, part := range e.parts {
			s.parts = append(s.parts, c.apply(part))
		}
	case noop, empty:
	}
	return s
}

// undo takes back what an entry did.
func (c catalog) undo(s *slot) {
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
		delete(c, s.ns)
	case drop:
		c[s.ns] = s.on
	case alter:
		s.on.define(s.change.before)
	case rename:
		delete(c, s.change.to)
		if s.replaced != nil {
			c[s.change.to] = s.replaced
		}
		c[s.ns] = s.on
		s.on.def = s.change.before
	case group:
		for i := len(s.parts) - 1; i >= 0; i-- {
			c.undo(&s.parts[i])
		}
	case noop, empty:
	}
}

// data is what a member has: its log, the collections that come of it, and what the log says of sessions.
type data struct {
	log         oplog
	collections catalog
	sessions    map[string]*session
	last        atomic.Uint64 // the time of the newest entry
}

// newData returns the data of a member without a log.
func newData() *data {
	return &data{collections: make(catalog), sessions: make(map[string]*session)}
}

// newest returns the time of the newest entry, 0 if there is none. It may be called without a lock.
func (d *data) newest() timestamp { return timestamp(d.last.Load()) }

// apply appends an entry to the log and does what it says.
func (d *data) apply(e *entry) {
	s := d.collections.apply(e)
	if e.session != nil {
		known := d.session(e.session.lsid)
		s.previous = known.head
		known.record(e)
	}
	d.log.slots = append(d.log.slots, s)
	d.last.Store(uint64(e.ts))
	e.applied()
}

// undo takes the newest entry back.
func (d *data) undo() {
	last := len(d.log.slots) - 1
	s := d.log.slots[last]
	d.log.slots[last] = slot{}
	d.log.slots = d.log.slots[:last]
	if last > 0 {
		d.last.Store(uint64(d.log.slots[last-1].ts))
	}
	d.collections.undo(&s)
	if s.session != nil {
		known := d.session(s.session.lsid)
		known.head, known.active = s.previous, 0
		if s.previous != nil {
			known.active = s.previous.txn
		}
	}
	s.undone()
}

// session returns what is known of a session, which there is from then on.
func (d *data) session(lsid string) *session {
	s := d.sessions[lsid]
	if s == nil {
		s = &session{key: lsid}
		d.sessions[lsid] = s
	}
	return s
}

// wall is when the entry was written, in milliseconds and to the second.
func (e *entry) wall() int64 { return int64(e.ts.seconds()) * 1000 }

// since returns the index of the first entry that is not before a time, false if that may have been forgotten.
func (l *oplog) since(t timestamp) (int64, bool) {
	at := sort.Search(len(l.slots), func(i int) bool { return l.slots[i].ts >= t })
	return l.base + int64(at) + 1, at > 0 || l.base == 0 || l.slots[0].ts == t
}
