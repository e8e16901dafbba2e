package mongotest

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/core/tailable-cursors/

// tailing is the feed of a tailable cursor: a capped collection's documents in the order of their insertion, from the oldest
// to those that will be inserted.
type tailing struct {
	criteria
	ns       string
	id       store.UUID
	majority bool // only what a majority has
	skip     int64
	left     int64 // how many documents it may still give; negative for any number
	last     int64 // the id of the record that was read last, 0 before the first
}

// tail answers a find with a cursor that stays open at the end.
func (x *call) tail(s *search) error {
	if err := s.checkTail(x); err != nil {
		return err
	}
	if x.command.full == store.OplogName {
		return x.tailOplog(s)
	}
	t := &tailing{criteria: s.criteria, ns: x.command.full, majority: x.command.readConcern == majorityConcern, skip: s.skip, left: s.limit}
	if t.left == 0 {
		t.left = -1
	}
	if err := x.reading(); err != nil {
		return err
	}
	on := t.collectionLocked(x.client.member)
	if on.IsView() {
		x.client.set.Unlock()
		return mongoerr.Errorf(mongoerr.InvalidPipelineOperator, "Tailable cursors are not supported in aggregation.")
	}
	if on != nil && !on.Def.Options.Capped {
		x.client.set.Unlock()
		// The real server writes the filter's tree here; this is that of one without conditions.
		return mongoerr.Errorf(mongoerr.BadValue,
			"error processing query: ns=%s%sTree: $and\nSort: {}\nProj: {}\n tailable cursor requested on non capped "+
				"collection", x.command.full, s.sizes(!x.arg("batchSize").Missing()))
	}
	if on == nil || on.Live == 0 { // there is no position to stay at
		x.client.set.Unlock()
		return x.replyCursor(nil, nil, cursorReply{single: true})
	}
	t.id = on.Def.UUID
	c := &cursor{feed: t, projection: s.projection, await: s.awaitData}
	x.client.set.Unlock()
	docs, err := c.batch(x, s.batchSize)
	if err != nil {
		return x.executing("find", err)
	}
	return x.open(c, docs, false)
}

// checkTail refuses what does not go together with a tailable cursor.
func (s *search) checkTail(x *call) error {
	switch {
	case s.filter.Near() != nil:
		return mongoerr.Errorf(mongoerr.BadValue, "Tailable cursors and geo $near cannot be used together")
	case s.filter.Text() != nil:
		return mongoerr.Errorf(mongoerr.BadValue, "text and tailable cursor not allowed in same query")
	case !s.tailable:
		return mongoerr.Errorf(mongoerr.FailedToParse, "Cannot set 'awaitData' without also setting 'tailable'")
	case x.inTransaction():
		return mongoerr.Errorf(mongoerr.InvalidOptions, "It is illegal to open a tailable cursor in a transaction")
	case s.sort != nil || s.natural < 0:
		return mongoerr.Errorf(mongoerr.BadValue, "cannot use tailable option with a sort other than {$natural: 1}")
	case s.singleBatch:
		return mongoerr.Errorf(mongoerr.BadValue, "cannot use tailable option with the 'singleBatch' option")
	case x.command.readConcern == snapshotConcern:
		return mongoerr.Errorf(mongoerr.NotImplemented, "mongotest: a tailable cursor with read concern snapshot is not supported")
	case s.hint.Named || s.hint.Pattern != nil || s.hint.Natural < 0 || s.hint.Min != nil || s.hint.Max != nil || s.returnKey || s.showRecordID:
		return mongoerr.Errorf(mongoerr.NotImplemented,
			"mongotest: a tailable cursor with a hint, min, max, returnKey or showRecordId is not supported")
	}
	return nil
}

func (t *tailing) collectionLocked(m *member) *store.Collection {
	if t.majority {
		return m.Data.Snapshot(t.ns, m.Commit)
	}
	return m.Data.Collections[t.ns]
}

func (t *tailing) next(x *call) ([]byte, error) {
	match := query.Matching{Vars: t.vars, Work: x.work()}
	for {
		r, err := t.read(x)
		if r == nil || err != nil {
			return nil, err
		}
		switch ok, err := t.filter.MatchWith(r.Doc, &match); {
		case err != nil:
			return nil, err
		case !ok:
		case t.skip > 0:
			t.skip--
		default:
			t.left--
			return r.Doc, nil
		}
	}
}

// read returns the next record, nil if there is none now.
func (t *tailing) read(x *call) (*store.Record, error) {
	x.client.set.Lock()
	defer x.client.set.Unlock()
	r, err := t.aheadLocked(x.client.member)
	if r != nil {
		t.last = r.ID
	}
	return r, err
}

func (t *tailing) newsLocked(x *call) bool {
	r, err := t.aheadLocked(x.client.member)
	return r != nil || err != nil
}

// aheadLocked returns the record behind the one that was read last, nil if there is none or none is wanted.
func (t *tailing) aheadLocked(m *member) (*store.Record, error) {
	c := t.collectionLocked(m)
	if c == nil || c.Def.UUID != t.id {
		return nil, mongoerr.Errorf(mongoerr.QueryPlanKilled, "collection dropped. UUID %s", t.id)
	}
	at, ok := c.Behind(t.last)
	if !ok {
		return nil, mongoerr.Errorf(mongoerr.CappedPositionLost, "CollectionScan died due to failure to restore tailable cursor position. Last seen "+
			"record id: RecordId(%d)", t.last)
	}
	if t.left == 0 {
		return nil, nil
	}
	for _, r := range c.Order[at:] {
		if r.Doc != nil {
			return r, nil
		}
	}
	return nil, nil
}

// over is false: who tails a collection waits for as long as there is the collection.
func (t *tailing) over() bool { return false }
