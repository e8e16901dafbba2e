package mongotest

import (
	"iter"
	"sort"
	"strings"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/pipeline"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/changeStreams/

const changeStreamStage = "$changeStream"

// changeStream is the feed of a cursor on changes: it reads the log of the cursor's member, as far as a majority has it, and
// makes events of the entries. It needs no primary, and nothing that it has read can be rolled back.
type changeStream struct {
	*streamSpec
	pipeline *pipeline.Pipeline
	vars     any    // of the pipeline
	db, coll string // what is watched; coll is "" for a database
	next     int64  // index of the log from which it reads on
	from     timestamp
	events   []event // of the entry in hand
	behind   string  // the token behind which the stream begins, until it has passed it
	found    bool    // it has seen that token
	token    string  // behind which the stream stands
	ended    bool
}

// watch answers an aggregate that begins with $changeStream.
func (x *exec) watch(a *aggregation, spec query.Value) error {
	parsed, err := x.set.config.version.parseStream(spec)
	if err != nil {
		return err
	}
	if err := parsed.check(x); err != nil {
		return err
	}
	s := &changeStream{streamSpec: parsed, pipeline: a.Pipeline, vars: x.vars.values, db: x.db, coll: x.coll}
	c := &cursor{feed: s, await: true}
	x.readConcern = majorityConcern
	if err := x.reading(); err != nil {
		return err
	}
	docs, err := s.beginLocked(x, c, a.batchSize)
	x.set.mu.Unlock()
	if err != nil {
		return err
	}
	return x.open(c, docs, false)
}

// beginLocked opens the stream, unless it is to be one of a view.
func (s *changeStream) beginLocked(x *exec, c *cursor, size int64) ([][]byte, error) {
	if _, err := x.member.storedLocked(x.full); err != nil {
		return nil, err
	}
	docs, err := s.openLocked(x, c, size)
	if err != nil {
		return nil, x.executing("aggregate", err)
	}
	return docs, nil
}

// openLocked finds where the stream begins and takes the first batch.
func (s *changeStream) openLocked(x *exec, c *cursor, size int64) ([][]byte, error) {
	m := x.member
	s.from = timestamp(m.lastTS.Load()) + 1
	if s.startAt != 0 {
		s.from = s.startAt
	}
	if token := s.start(); token != nil {
		s.from = token.at
		if s.token = token.text(); token.event {
			s.behind = s.token
		}
	}
	if s.token == "" {
		s.token = (&resumeToken{at: s.from}).text()
	}
	next, kept := m.log.since(s.from)
	if !kept {
		return nil, mongoerr.Errorf(mongoerr.ChangeStreamHistoryLost, "Resume of change stream was not possible, as the resume point may no longer be in "+
			"the oplog.")
	}
	s.next = min(next, m.commit+1) // what is behind may yet be rolled back
	return c.batchLocked(x, size)
}

// since returns the index of the first entry that is not before a time, false if that may have been forgotten.
func (l *oplog) since(t timestamp) (int64, bool) {
	at := sort.Search(len(l.slots), func(i int) bool { return l.slots[i].ts >= t })
	return l.base + int64(at) + 1, at > 0 || l.base == 0 || l.slots[0].ts == t
}

func (s *changeStream) nextLocked(x *exec) ([]byte, error) {
	for !s.ended {
		if len(s.events) == 0 {
			if more, err := s.readLocked(x.member); !more || err != nil {
				return nil, err
			}
			continue
		}
		e := &s.events[0]
		s.events = s.events[1:]
		doc, err := s.takeLocked(x, e)
		if doc != nil || err != nil {
			return doc, err
		}
	}
	return nil, nil
}

func (s *changeStream) over() bool { return s.ended }

// readLocked reads one more entry of the log, if a majority has one.
func (s *changeStream) readLocked(m *member) (bool, error) {
	if s.next > m.commit {
		if e := m.log.at(m.commit); e != nil {
			s.token = max(s.token, (&resumeToken{at: e.ts}).text())
		}
		return false, nil
	}
	e := m.log.at(s.next)
	if e == nil {
		return false, mongoerr.Errorf(mongoerr.CappedPositionLost, "CollectionScan died due to position in capped collection being deleted. Last seen "+
			"record id: RecordId(%d)", s.next-1)
	}
	s.next++
	if e.ts >= s.from {
		s.events = s.eventsOf(e)
	}
	return true, nil
}

// takeLocked returns what an event is for the client, nil if the client does not get it.
func (s *changeStream) takeLocked(x *exec, e *event) ([]byte, error) {
	token := e.token.text()
	if passed, err := s.pass(token); !passed {
		return nil, err
	}
	s.token, s.ended = token, e.token.invalidate
	doc, err := s.documentLocked(x.member, e)
	if err != nil {
		return nil, err
	}
	source := eventSource{source{x}, doc}
	context := x.context()
	context.Source = source
	docs, err := s.pipeline.Run(context, s.vars, nothing)
	if err != nil || len(docs) == 0 {
		return nil, err
	}
	return docs[0], s.checkEvent(docs[0])
}

// nothing is no documents.
var nothing iter.Seq[[]byte] = func(func([]byte) bool) {}

// eventSource is what the pipeline of a change stream reads: one event.
type eventSource struct {
	source
	event []byte
}

func (s eventSource) Stage(_, _, _ string, _ query.Value) ([][]byte, error) {
	return [][]byte{s.event}, nil
}

// pass tells whether an event is behind the point at which the stream was asked to begin.
func (s *changeStream) pass(token string) (bool, error) {
	switch {
	case s.behind == "":
		return true, nil
	case token == s.behind:
		s.found = true
		return false, nil
	case token < s.behind:
		return false, nil
	case !s.found:
		return false, mongoerr.Errorf(mongoerr.ChangeStreamFatalError, "cannot resume stream; the resume token was not found. %s", documentText(tokenDocument(token)))
	}
	s.behind = ""
	return true, nil
}

// checkEvent refuses what the pipeline made of an event if a client could not resume from it.
func (s *changeStream) checkEvent(doc []byte) error {
	token := query.Document(tokenDocument(s.token))
	if id := query.Lookup(doc, "_id"); !query.Equal(id, token) {
		return mongoerr.Errorf(mongoerr.ChangeStreamFatalError, "Encountered an event whose _id field, which contains the resume token, was modified by the "+
			"pipeline. Modifying the _id field of an event makes it impossible to resume the stream from that point. Only transformations that "+
			"retain the unmodified _id field are allowed. Expected: { _id: %s } but found: %s", token, foundID(id))
	}
	if len(doc) > query.MaxDocumentSize+16<<10 {
		return mongoerr.Errorf(mongoerr.BSONObjectTooLarge, "BSONObj size: %d (0x%X) is invalid. Size must be between 0 and 16793600(16MB)", len(doc), len(doc))
	}
	return nil
}

func foundID(id query.Value) string {
	if id.Missing() {
		return "{}"
	}
	return "{ _id: " + id.String() + " }"
}

// position returns the token behind which a client stands that has a batch of the cursor.
func (s *changeStream) position(c *cursor, batch [][]byte) []byte {
	if c.ahead != nil {
		return query.Lookup(batch[len(batch)-1], "_id").Data
	}
	return tokenDocument(s.token)
}

// watching tells whether the command reads a change stream.
func (x *exec) watching() bool {
	if x.name != "aggregate" {
		return x.watches
	}
	stages := query.Lookup(x.raw, "pipeline")
	return stages.IsArray() && !query.Lookup(query.Lookup(stages.Data, "0").Data, changeStreamStage).Missing()
}

// covers tells whether a namespace is one that the stream watches.
func (s *changeStream) covers(ns string) bool {
	db, coll, _ := strings.Cut(ns, ".")
	switch {
	case s.coll != "":
		return db == s.db && coll == s.coll
	case strings.HasPrefix(coll, "system."):
		return false
	}
	return s.coversDatabase(db)
}

func (s *changeStream) coversDatabase(db string) bool {
	if s.cluster {
		return !internalDB(db)
	}
	return db == s.db
}

// eventsOf returns the events that an entry of the log stands for.
func (s *changeStream) eventsOf(e *entry) []event {
	if e.kind != group {
		return s.eventsOfPart(e, e, 0)
	}
	var list []event
	for i, part := range e.parts {
		list = append(list, s.eventsOfPart(e, part, i)...)
	}
	return list
}

// eventsOfPart returns the events of one operation, which an entry of the log is or has in it.
func (s *changeStream) eventsOfPart(e, part *entry, index int) []event {
	renamed := part.kind == rename && s.covers(part.change.to)
	dropped := part.kind == empty && s.coll == "" && s.coversDatabase(part.ns)
	if part.view && s.coll != "" {
		return nil
	}
	if !dropped && (part.kind == empty || !renamed && !s.covers(part.ns)) {
		return nil
	}
	var list []event
	for _, one := range operations(part) {
		if one.expanded && !s.expanded {
			continue
		}
		one.entry, one.in = part, e
		one.token = resumeToken{at: e.ts, event: true, index: index + len(list), collection: part.collection, operation: one.operation}
		list = append(list, one)
		if s.ends(part) {
			list = append(list, event{entry: part, in: e, operation: invalidate, token: one.token.invalidated()})
		}
	}
	return list
}

// ends tells whether an operation is the end of what the stream watches.
func (s *changeStream) ends(e *entry) bool {
	if s.coll == "" {
		return !s.cluster && e.kind == empty
	}
	return e.kind == drop || e.kind == rename
}

// invalidated returns the token of the event that ends a stream because of the token's own.
func (t resumeToken) invalidated() resumeToken {
	t.invalidate = true
	return t
}
