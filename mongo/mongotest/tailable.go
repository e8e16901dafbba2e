package mongotest

import (
	"cmp"
	"slices"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/core/tailable-cursors/

// tailing is the feed of a tailable cursor: a capped collection's documents in the order of their insertion, from the oldest
// to those that will be inserted.
type tailing struct {
	criteria
	ns       string
	id       uuid
	majority bool // only what a majority has
	skip     int64
	left     int64 // how many documents it may still give; negative for any number
	last     int64 // the id of the record that was read last, 0 before the first
}

// tail answers a find with a cursor that stays open at the end.
func (x *exec) tail(s *search) error {
	if err := s.checkTail(x); err != nil {
		return err
	}
	t := &tailing{criteria: s.criteria, ns: x.full, majority: x.readConcern == majorityConcern, skip: s.skip, left: s.limit}
	if t.left == 0 {
		t.left = -1
	}
	if err := x.reading(); err != nil {
		return err
	}
	on := t.collectionLocked(x.member)
	if on.isView() {
		x.set.mu.Unlock()
		return mongoerr.Errorf(mongoerr.InvalidPipelineOperator, "Tailable cursors are not supported in aggregation.")
	}
	if on != nil && !on.def.options.capped {
		x.set.mu.Unlock()
		// The real server writes the filter's tree here; this is that of one without conditions.
		return mongoerr.Errorf(mongoerr.BadValue, "error processing query: ns=%s%sTree: $and\nSort: {}\nProj: {}\n tailable cursor requested on non capped "+
			"collection", x.full, s.sizes(!x.arg("batchSize").Missing()))
	}
	if on == nil || on.live == 0 { // there is no position to stay at
		x.set.mu.Unlock()
		return x.replyCursor(nil, nil, cursorReply{single: true})
	}
	t.id = on.def.uuid
	c := &cursor{feed: t, projection: s.projection, await: s.awaitData}
	docs, err := c.batchLocked(x, s.batchSize)
	x.set.mu.Unlock()
	if err != nil {
		return x.executing("find", err)
	}
	return x.open(c, docs, false)
}

// checkTail refuses what does not go together with a tailable cursor.
func (s *search) checkTail(x *exec) error {
	switch {
	case !s.tailable:
		return mongoerr.Errorf(mongoerr.FailedToParse, "Cannot set 'awaitData' without also setting 'tailable'")
	case x.inTransaction():
		return mongoerr.Errorf(mongoerr.InvalidOptions, "It is illegal to open a tailable cursor in a transaction")
	case s.sort != nil || s.natural < 0:
		return mongoerr.Errorf(mongoerr.BadValue, "cannot use tailable option with a sort other than {$natural: 1}")
	case s.singleBatch:
		return mongoerr.Errorf(mongoerr.BadValue, "cannot use tailable option with the 'singleBatch' option")
	case x.readConcern == snapshotConcern:
		return mongoerr.Errorf(mongoerr.NotImplemented, "mongotest: a tailable cursor with read concern snapshot is not supported")
	case s.hint.named || s.hint.pattern != nil || s.hint.natural < 0 || s.hint.min != nil || s.hint.max != nil || s.returnKey || s.showRecordID:
		return mongoerr.Errorf(mongoerr.NotImplemented, "mongotest: a tailable cursor with a hint, min, max, returnKey or showRecordId is not supported")
	}
	return nil
}

func (t *tailing) collectionLocked(m *member) *collection {
	if t.majority {
		return m.snapshotLocked(t.ns, m.commit)
	}
	return m.collections[t.ns]
}

func (t *tailing) nextLocked(x *exec) ([]byte, error) {
	c := t.collectionLocked(x.member)
	if c == nil || c.def.uuid != t.id {
		return nil, mongoerr.Errorf(mongoerr.QueryPlanKilled, "collection dropped. UUID %s", t.id)
	}
	at, ok := c.behind(t.last)
	if !ok {
		return nil, mongoerr.Errorf(mongoerr.CappedPositionLost, "CollectionScan died due to failure to restore tailable cursor position. Last seen "+
			"record id: RecordId(%d)", t.last)
	}
	match := query.Matching{Vars: t.vars}
	for _, r := range c.order[at:] {
		if r.doc == nil || t.left == 0 {
			continue
		}
		t.last = r.id
		switch ok, err := t.filter.MatchWith(r.doc, &match); {
		case err != nil:
			return nil, err
		case !ok:
		case t.skip > 0:
			t.skip--
		default:
			t.left--
			return r.doc, nil
		}
	}
	return nil, nil
}

// over is false: who tails a collection waits for as long as there is the collection.
func (t *tailing) over() bool { return false }

// behind returns where in the collection's order the records behind one begin, false if that record is gone.
func (c *collection) behind(id int64) (int, bool) {
	if id == 0 {
		return 0, true
	}
	at, there := slices.BinarySearchFunc(c.order, id, func(r *record, id int64) int { return cmp.Compare(r.id, id) })
	return at + 1, there && c.order[at].doc != nil
}
