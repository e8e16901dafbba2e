package command

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/core/replica-set-oplog/

// oplogTail is the feed of a tailable cursor on the oplog.
type oplogTail struct {
	call.Criteria
	majority bool // only what a majority has
	skip     int64
	left     int64        // how many documents it may still give; negative for any number
	index    int64        // of the entry that was read last
	last     *store.Entry // the entry
}

// tailOplog answers a find with a cursor that stays open at the end of the oplog.
func tailOplog(x *call.Call, s *search) error {
	t := &oplogTail{Criteria: s.Criteria, majority: x.Command.ReadConcern == call.MajorityConcern, skip: s.skip, left: s.limit}
	if t.left == 0 {
		t.left = -1
	}
	exists, err := call.ReadValue(x, func(x call.Locked) (bool, error) {
		t.index = x.Client.Member.Data.Log.Base
		return x.Client.Member.HasOplogLocked(), nil
	})
	if err != nil {
		return err
	}
	if !exists {
		return x.ReplyCursor(nil, nil, call.CursorReply{Single: true})
	}
	c := &call.Cursor{Feed: t, Projection: s.projection, Await: s.awaitData}
	docs, err := c.Batch(x, s.batchSize)
	if err != nil {
		return x.Executing("find", err)
	}
	return x.Open(c, docs, false)
}

func (t *oplogTail) Next(x *call.Call) ([]byte, error) {
	match := query.Matching{Vars: t.Vars, Work: x.Work()}
	for t.left != 0 {
		doc, err := t.read(x)
		if doc == nil || err != nil {
			return nil, err
		}
		switch ok, err := t.Filter.MatchWith(doc, &match); {
		case err != nil:
			return nil, err
		case !ok:
		case t.skip > 0:
			t.skip--
		default:
			t.left--
			return doc, nil
		}
	}
	return nil, nil
}

// read returns the document of the next entry, nil if there is none now.
func (t *oplogTail) read(x *call.Call) ([]byte, error) {
	var e, previous *store.Entry
	err := call.WithLock(x, func(x call.Locked) (err error) {
		if e, err = t.ahead(x); e != nil {
			t.index, t.last = t.index+1, e
			previous = x.Client.Member.Data.Log.Previous(t.index)
		}
		return err
	})
	if e == nil || err != nil {
		return nil, err
	}
	return x.Client.Member.OplogDocument(e, previous), nil
}

// ahead returns the entry behind the one that was read last, nil if there is none.
func (t *oplogTail) ahead(x call.Locked) (*store.Entry, error) {
	m := x.Client.Member
	log := &m.Data.Log
	if t.index < log.Base || t.last != nil && t.index > log.Base && log.At(t.index) != t.last {
		return nil, mongoerr.Errorf(mongoerr.CappedPositionLost, "CollectionScan died due to failure to restore tailable cursor position. Last seen "+
			"record id: RecordId(%d)", t.index)
	}
	if t.majority && t.index >= m.Commit {
		return nil, nil
	}
	return log.At(t.index + 1), nil
}

func (t *oplogTail) News(x call.Locked) bool {
	e, err := t.ahead(x)
	return e != nil || err != nil
}

// Over is false: the oplog never ends.
func (t *oplogTail) Over() bool { return false }
