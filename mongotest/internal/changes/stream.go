package changes

import (
	"strings"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

// https://www.mongodb.com/docs/manual/changeStreams/

// Stream makes events of the entries of a log, as far as a majority has it: nothing that it has read can be rolled back.
type Stream struct {
	*Spec
	version  version.Version
	db, coll string // the watched namespace; coll is "" for a database
	next     int64  // index of the log from which it reads on
	from     store.Timestamp
	events   []event // of the current entry
	behind   *token  // behind which the stream begins, until it has passed it
	found    bool    // it has seen that token
	split    split
	token    string // behind which the stream stands
	closed   bool
}

// Open returns the stream of what a specification watches, at the place in the log where it is to begin. Committed is the index up
// to which a majority has the log.
func Open(spec *Spec, v version.Version, db, coll string, data *store.Store, committed int64) (*Stream, error) {
	s := &Stream{Spec: spec, version: v, db: db, coll: coll, from: data.Newest() + 1}
	if s.startAt != 0 {
		s.from = s.startAt
	}
	if token := s.start(); token != nil {
		s.from = token.at
		if s.token = token.text(); token.event {
			s.behind, s.split.passed = token.whole(), token.fragment
		}
	}
	if s.token == "" {
		s.token = (&token{at: s.from}).text()
	}
	next, kept := data.Log.Since(s.from)
	if !kept {
		return nil, mongoerr.Errorf(mongoerr.ChangeStreamHistoryLost, "Resume of change stream was not possible, as the resume point may no "+
			"longer be in the oplog.")
	}
	s.next = min(next, committed+1) // later entries may yet be rolled back
	return s, nil
}

// Next returns the document of the next event, nil if there is none yet or the stream has ended. Until the stream has passed the event
// behind which it begins, Passed must tell whether the client gets it.
func (s *Stream) Next(data *store.Store, committed int64) ([]byte, error) {
	for !s.closed {
		if len(s.events) == 0 {
			if more, err := s.read(data, committed); !more || err != nil {
				return nil, err
			}
			continue
		}
		e := &s.events[0]
		s.events = s.events[1:]
		token := e.token.text()
		if s.behind != nil && token < s.behind.text() {
			continue
		}
		s.token, s.split.of = token, e.token
		s.closed = e.token.invalidate && !s.atStart()
		return s.document(e, data, committed)
	}
	return nil, nil
}

// Behind reports whether there may be events that Next has not returned.
func (s *Stream) Behind(committed int64) bool {
	return !s.closed && (len(s.events) > 0 || len(s.split.fragments) > 0 || s.next <= committed)
}

// Ended reports whether the stream has ended.
func (s *Stream) Ended() bool { return s.closed }

// Position returns the token behind which the stream stands.
func (s *Stream) Position() []byte { return tokenDocument(s.token) }

// read reads one more entry of the log, if a majority has one.
func (s *Stream) read(data *store.Store, committed int64) (bool, error) {
	if s.next > committed {
		if e := data.Log.At(committed); e != nil {
			s.token = max(s.token, (&token{at: e.TS}).text())
		}
		return false, nil
	}
	e := data.Log.At(s.next)
	if e == nil {
		return false, mongoerr.Errorf(mongoerr.CappedPositionLost,
			"CollectionScan died due to position in capped collection being deleted. Last seen "+
				"record id: RecordId(%d)", s.next-1)
	}
	s.next++
	if e.TS >= s.from {
		s.events = s.eventsOf(e)
	}
	return true, nil
}

// CheckEvent refuses what the pipeline made of an event if a client could not resume from it.
func (s *Stream) CheckEvent(doc []byte) error {
	token := query.Document(tokenDocument(s.token))
	if id := query.Lookup(doc, "_id"); !query.Equal(id, token) {
		return mongoerr.Errorf(mongoerr.ChangeStreamFatalError,
			"Encountered an event whose _id field, which contains the resume token, was modified by the "+
				"pipeline. Modifying the _id field of an event makes it impossible to resume the stream from that point. Only transformations that "+
				"retain the unmodified _id field are allowed. Expected: { _id: %s } but found: %s", token, foundID(id))
	}
	return nil
}

func foundID(id query.Value) string {
	if id.Missing() {
		return "{}"
	}
	return "{ _id: " + id.String() + " }"
}

// covers reports whether a namespace is one that the stream watches.
func (s *Stream) covers(ns string) bool {
	db, coll, _ := strings.Cut(ns, ".")
	switch {
	case s.coll != "":
		return db == s.db && coll == s.coll
	case strings.HasPrefix(coll, "system."):
		return false
	}
	return s.coversDatabase(db)
}

func (s *Stream) coversDatabase(db string) bool {
	if s.cluster {
		return !internalDB(db)
	}
	return db == s.db
}

// eventsOf returns the events that an entry of the log stands for.
func (s *Stream) eventsOf(e *store.Entry) []event {
	if e.Op != store.Group {
		return s.eventsOfPart(e, e, 0)
	}
	var list []event
	for i, part := range e.Parts {
		list = append(list, s.eventsOfPart(e, part, i)...)
	}
	return list
}

// eventsOfPart returns the events of one operation, which an entry of the log is or has in it.
func (s *Stream) eventsOfPart(e, part *store.Entry, index int) []event {
	renamed := part.Op == store.Rename && s.covers(part.Change.To)
	dropped := part.Op == store.EmptyDatabase && s.coll == "" && s.coversDatabase(part.NS)
	if part.FromMigrate || part.View && s.coll != "" {
		return nil
	}
	if !dropped && (part.Op == store.EmptyDatabase || !renamed && !s.covers(part.NS)) {
		return nil
	}
	var list []event
	for _, one := range operations(part) {
		if one.expanded && !s.expanded {
			continue
		}
		one.Entry, one.in = part, e
		one.token = token{at: e.TS, event: true, index: index + len(list), collection: part.Collection, operation: one.operation}
		list = append(list, one)
		if s.ends(part) {
			list = append(list, event{Entry: part, in: e, operation: invalidate, token: one.token.invalidated()})
		}
	}
	return list
}

// ends reports whether an operation is the end of what the stream watches.
func (s *Stream) ends(e *store.Entry) bool {
	if s.coll == "" {
		return !s.cluster && e.Op == store.EmptyDatabase
	}
	return e.Op == store.Drop || e.Op == store.Rename
}

// invalidated returns the token of the event that ends a stream because of the token's own.
func (t token) invalidated() token {
	t.invalidate = true
	return t
}
