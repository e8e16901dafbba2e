package store

import "sync/atomic"

// Store is what a member keeps: its log, the collections that come of it, and what the log has of sessions.
type Store struct {
	Log         Log
	Collections Catalog
	Sessions    map[string]*Session
	last        atomic.Uint64 // the time of the newest entry
	collates    atomic.Bool   // there is, or was, a collection or a view with a collation
}

// New returns a store without an entry.
func New() *Store {
	return &Store{Collections: make(Catalog), Sessions: make(map[string]*Session)}
}

// Newest returns the time of the newest entry, 0 if there is none. It may be called without a lock.
func (st *Store) Newest() Timestamp { return Timestamp(st.last.Load()) }

// Collates reports whether there may be a collection or a view with a collation. It may be called without a lock.
func (st *Store) Collates() bool { return st.collates.Load() }

// Collate notes that a collection or a view gets a collation.
func (st *Store) Collate(o *Options) {
	if o.Collation != nil {
		st.collates.Store(true)
	}
}

// Apply appends an entry to the log and does what it says.
func (st *Store) Apply(e *Entry) {
	st.collateBy(e)
	s := st.Collections.Apply(e)
	if e.Session != nil {
		known := st.Session(e.Session.LSID)
		s.previous = known.head
		known.record(e)
	}
	st.Log.add(s)
	st.last.Store(uint64(e.TS))
	e.applied()
}

// collateBy notes the collations of what an entry creates.
func (st *Store) collateBy(e *Entry) {
	if e.Op == Create {
		st.Collate(&e.Change.After.Options)
	}
	for _, part := range e.Parts {
		st.collateBy(part)
	}
}

// Undo takes the newest entry back.
func (st *Store) Undo() {
	s := st.Log.drop()
	if tail := st.Log.Tail(); tail != nil {
		st.last.Store(uint64(tail.TS))
	}
	st.Collections.Undo(&s)
	if s.Session != nil {
		st.Session(s.Session.LSID).undo(s.previous)
	}
	s.undone()
}

// Session returns the record of a session, and creates it if there is none.
func (st *Store) Session(lsid string) *Session {
	s := st.Sessions[lsid]
	if s == nil {
		s = &Session{Key: lsid}
		st.Sessions[lsid] = s
	}
	return s
}
