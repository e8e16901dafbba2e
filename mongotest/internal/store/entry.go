package store

import "github.com/holdfast-db/holdfast/mongotest/internal/query"

// Op says what an oplog entry does.
type Op uint8

// The operations.
const (
	Noop Op = iota
	Put     // insert or update: after is the document now, before the one that was there, if any
	Remove
	Create
	Drop
	Alter         // the collection gets another definition
	Rename        // the collection gets another namespace
	Group         // its parts, all or none: a transaction
	EmptyDatabase // dropDatabase has dropped the last collection of the database; NS is its name
)

// OfCatalog reports whether an entry of the kind is about a collection as a whole.
func (k Op) OfCatalog() bool { return k == Create || k == Drop || k == Alter || k == Rename }

// Entry is one operation of the oplog. It is immutable, and the members that have it share it: two members' logs agree up
// to an index exactly when they hold the same entry there.
type Entry struct {
	Term   int64
	TS     Timestamp
	Op     Op
	NS     string
	Key    string // of the document
	Before []byte
	After  []byte
	Change *Change  // of create, alter and rename
	Parts  []*Entry // of a group

	Collection UUID
	Whole      bool // it replaces the document: it does not change fields of it
	Images     bool // the collection keeps what change streams tell of documents before and after
	View       bool // the collection is none
	ShardKey   []byte

	FromMigrate bool // change streams do not tell of it

	Session *SessionRef
	Outcome *Outcome // nil if nobody asks
	Written int64    // nanoseconds of the clock
}

// Replaces notes which collection a rename replaces, nil for none.
func (c *Change) Replaces(target *Collection) {
	if target != nil {
		c.Target = &target.Def.UUID
	}
}

// Concern notes in the entry what change streams need of the collection's definition.
func (e *Entry) Concern(d *Definition) {
	e.Collection, e.Images, e.View, e.ShardKey = d.UUID, d.Options.Images, d.Options.ViewOn != "", d.ShardKey
}

// Change is what an entry does to a collection as a whole.
type Change struct {
	Before, After *Definition
	To            string // the namespace after a rename
	Target        *UUID  // of the collection that a rename replaces, nil for none
	Asked         []byte // the arguments of a collMod
	Sharded       []byte // how the collection was sharded
}

// Wall is when the entry was written, in milliseconds and to the second.
func (e *Entry) Wall() int64 { return int64(e.TS.Seconds()) * 1000 }

// Note is what an entry that changes nothing says.
func (e *Entry) Note() []byte {
	if e.After == nil {
		return query.EmptyDocument
	}
	return e.After
}
