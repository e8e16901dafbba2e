package mongotest

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/journal"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/command/delete/

// deleteStatement is one compiled statement of a delete.
type deleteStatement struct {
	criteria
	raw []byte
	one bool
	err error
}

func cmdDelete(x *call) error {
	if err := x.targetOf("deletes"); err != nil {
		return err
	}
	ordered, err := x.orderedArg()
	if err != nil {
		return err
	}
	docs, err := x.batchDocuments("deletes")
	if err != nil {
		return err
	}
	list := make([]deleteStatement, len(docs))
	x.noteStatements()
	for i := range docs {
		if err := list[i].parse(x, x.result.entries[i].Statement); err != nil {
			return err
		}
		if x.retryable() && !list[i].one {
			list[i].err = mongoerr.Errorf(mongoerr.InvalidOptions, "Cannot use (or request) retryable writes with limit=0")
		}
	}
	return x.writeStatements(len(list), ordered, func(i int, o *outcome) bool { return x.deleteOneLocked(&list[i], i, o) })
}

func (s *deleteStatement) parse(x *call, doc []byte) error {
	s.raw = doc
	var filter []byte
	err := fields.Delete.Document(doc, func(e *wire.Element) error {
		switch string(e.Key) {
		case "q":
			filter = e.Document()
		case "limit":
			limit := query.Of(*e).AsFloat64() // another type is as good as 0
			if s.one = limit == 1; !s.one && limit != 0 {
				return mongoerr.Errorf(mongoerr.FailedToParse, "The limit field in delete objects must be 0 or 1. Got %s", fields.Shortest(limit))
			}
		case "hint":
			if err := x.since(4, 4, "delete.deletes", "hint"); err != nil {
				return err
			}
			return s.hint.Parse(e)
		case "collation":
			s.ownCollation(e)
		case "sampleId":
			return fields.Unsupported("delete.deletes", string(e.Key))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if s.err = query.CheckDocument(doc); s.err == nil {
		s.err = s.compile(x, filter)
	}
	return nil
}

// deleteOneLocked executes one statement and reports whether it went well.
func (x *call) deleteOneLocked(s *deleteStatement, i int, o *outcome) bool {
	note := x.result.entries[i]
	stmt := note.StatementID
	if x.executedBeforeLocked(note, o) != nil {
		return true
	}
	err := s.err
	if err != nil {
		err = x.refuseLocked(err, false)
	} else {
		err = x.removeMatchesLocked(s, stmt, note, o)
	}
	if err != nil {
		o.fail(i, note, err)
	}
	return err == nil
}

func (x *call) removeMatchesLocked(s *deleteStatement, stmt int32, note *journal.Entry, o *outcome) error {
	remove := func(f *found) error {
		err := x.storeLocked(&store.Entry{Kind: store.Remove, Key: f.key, Before: f.doc}, stmt, note)
		if err == nil {
			o.n++
		}
		return err
	}
	if s.one {
		f, err := x.firstLocked("delete", &s.criteria)
		if err != nil || f.doc == nil {
			return err
		}
		return remove(&f)
	}
	w := x.findManyLocked("delete", &s.criteria, false)
	if w.err != nil {
		return w.err
	}
	return w.eachLocked(note, remove)
}
