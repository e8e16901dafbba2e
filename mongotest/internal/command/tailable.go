package command

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/core/tailable-cursors/

// tailing is the feed of a tailable cursor: a capped collection's documents in the order of their insertion, from the oldest
// to those that will be inserted.
type tailing struct {
	call.Criteria
	ns       string
	id       store.UUID
	majority bool // only what a majority has
	skip     int64
	left     int64 // how many documents it may still give; negative for any number
	last     int64 // the id of the record that was read last, 0 before the first
}

// tail answers a find with a cursor that stays open at the end.
func tail(x *call.Call, s *search) error {
	if err := s.checkTail(x); err != nil {
		return err
	}
	if x.Command.Full == store.OplogName {
		return tailOplog(x, s)
	}
	t := &tailing{Criteria: s.Criteria, ns: x.Command.Full, majority: x.Command.ReadConcern == call.MajorityConcern, skip: s.skip, left: s.limit}
	if t.left == 0 {
		t.left = -1
	}
	empty, err := call.ReadValue(x, func(x call.Locked) (bool, error) { return t.begin(x, s) })
	if err != nil {
		return err
	}
	if empty { // there is no position to stay at
		return x.ReplyCursor(nil, nil, call.CursorReply{Single: true})
	}
	c := &call.Cursor{Feed: t, Projection: s.projection, Await: s.awaitData}
	docs, err := c.Batch(x, s.batchSize)
	if err != nil {
		return x.Executing("find", err)
	}
	return x.Open(c, docs, false)
}

// begin looks at the collection, and reports whether there is nothing in it.
func (t *tailing) begin(x call.Locked, s *search) (empty bool, err error) {
	switch on := t.collection(x); {
	case on.IsView():
		return false, mongoerr.Errorf(mongoerr.InvalidPipelineOperator, "Tailable cursors are not supported in aggregation.")
	case on != nil && !on.Def.Options.Capped:
		// The real server writes the filter's tree here; this is that of one without conditions.
		return false, mongoerr.Errorf(mongoerr.BadValue,
			"error processing query: ns=%s%sTree: $and\nSort: {}\nProj: {}\n tailable cursor requested on non capped "+
				"collection", x.Command.Full, s.sizes(!x.Arg("batchSize").Missing()))
	case on == nil || on.Live == 0:
		return true, nil
	default:
		t.id = on.Def.UUID
		return false, nil
	}
}

// checkTail refuses what does not go together with a tailable cursor.
func (s *search) checkTail(x *call.Call) error {
	switch {
	case s.Filter.Near() != nil:
		return mongoerr.Errorf(mongoerr.BadValue, "Tailable cursors and geo $near cannot be used together")
	case s.Filter.Text() != nil:
		return mongoerr.Errorf(mongoerr.BadValue, "text and tailable cursor not allowed in same query")
	case !s.tailable:
		return mongoerr.Errorf(mongoerr.FailedToParse, "Cannot set 'awaitData' without also setting 'tailable'")
	case x.InTransaction():
		return mongoerr.Errorf(mongoerr.InvalidOptions, "It is illegal to open a tailable cursor in a transaction")
	case s.Sort != nil || s.Natural < 0:
		return mongoerr.Errorf(mongoerr.BadValue, "cannot use tailable option with a sort other than {$natural: 1}")
	case s.singleBatch:
		return mongoerr.Errorf(mongoerr.BadValue, "cannot use tailable option with the 'singleBatch' option")
	case x.Command.ReadConcern == call.SnapshotConcern:
		return mongoerr.Errorf(mongoerr.NotImplemented, "mongotest: a tailable cursor with read concern snapshot is not supported")
	case s.Hint.Named || s.Hint.Pattern != nil || s.Hint.Natural < 0 || s.Hint.Min != nil || s.Hint.Max != nil || s.returnKey || s.showRecordID:
		return mongoerr.Errorf(mongoerr.NotImplemented,
			"mongotest: a tailable cursor with a hint, min, max, returnKey or showRecordId is not supported")
	}
	return nil
}

func (t *tailing) collection(x call.Locked) *store.Collection {
	m := x.Client.Member
	if t.majority {
		return m.Data.Snapshot(t.ns, m.Commit)
	}
	return m.Data.Collections[t.ns]
}

func (t *tailing) Next(x *call.Call) ([]byte, error) {
	match := query.Matching{Vars: t.Vars, Work: x.Work()}
	for {
		r, err := t.read(x)
		if r == nil || err != nil {
			return nil, err
		}
		switch ok, err := t.Filter.MatchWith(r.Doc, &match); {
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
func (t *tailing) read(x *call.Call) (*store.Record, error) {
	return call.WithLockValue(x, func(x call.Locked) (*store.Record, error) {
		r, err := t.ahead(x)
		if r != nil {
			t.last = r.ID
		}
		return r, err
	})
}

func (t *tailing) News(x call.Locked) bool {
	r, err := t.ahead(x)
	return r != nil || err != nil
}

// ahead returns the record behind the one that was read last, nil if there is none or none is wanted.
func (t *tailing) ahead(x call.Locked) (*store.Record, error) {
	c := t.collection(x)
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

// Over is false: who tails a collection waits for as long as there is the collection.
func (t *tailing) Over() bool { return false }
