package command

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/journal"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/command/delete/

// deleteStatement is one compiled statement of a delete.
type deleteStatement struct {
	call.Criteria
	raw    []byte
	filter []byte
	one    bool
	err    error
}

func cmdDelete(x *call.Call) error {
	if err := x.TargetOf("deletes"); err != nil {
		return err
	}
	ordered, err := x.OrderedArg()
	if err != nil {
		return err
	}
	docs, err := x.BatchDocuments("deletes")
	if err != nil {
		return err
	}
	list := make([]deleteStatement, len(docs))
	x.NoteStatements()
	for i := range docs {
		if err := list[i].parse(x, x.Result.Entries[i].Statement); err != nil {
			return err
		}
		if x.Retryable() && !list[i].one {
			list[i].err = mongoerr.Errorf(mongoerr.InvalidOptions, "Cannot use (or request) retryable writes with limit=0")
		}
	}
	return x.WriteStatements(len(list), ordered, func(x call.Locked, i int, o *call.Outcome) bool { return deleteOne(x, &list[i], i, o) })
}

func (s *deleteStatement) parse(x *call.Call, doc []byte) error {
	s.raw = doc
	err := fields.Delete.Document(doc, func(e *wire.Element) error {
		switch string(e.Key) {
		case "q":
			s.filter = e.Document()
		case "limit":
			limit := query.Of(*e).AsFloat64() // another type is as good as 0
			if s.one = limit == 1; !s.one && limit != 0 {
				return mongoerr.Errorf(mongoerr.FailedToParse, "The limit field in delete objects must be 0 or 1. Got %s", fields.Shortest(limit))
			}
		case "hint":
			if err := x.Since(4, 4, "delete.deletes", "hint"); err != nil {
				return err
			}
			return s.Hint.Parse(e)
		case "collation":
			s.OwnCollation(e)
		case "sampleId":
			return fields.Unsupported("delete.deletes", string(e.Key))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if s.err = query.CheckDocument(doc); s.err == nil {
		s.err = s.Compile(x, s.filter)
	}
	return nil
}

// deleteOne executes one statement and reports whether it went well.
func deleteOne(x call.Locked, s *deleteStatement, i int, o *call.Outcome) bool {
	note := x.Result.Entries[i]
	stmt := note.StatementID
	if x.ExecutedBefore(note, o) != nil {
		return true
	}
	err := s.err
	if err != nil {
		err = refuse(x, err, false)
	} else {
		err = removeMatches(x, s, stmt, note, o)
	}
	if err != nil {
		o.Fail(i, note, err)
		return false
	}
	countStatement(x, &s.Criteria, s.explained)
	return true
}

func removeMatches(x call.Locked, s *deleteStatement, stmt int32, note *journal.Entry, o *call.Outcome) error {
	remove := func(f *call.Found) error {
		err := x.Store(&store.Entry{Op: store.Remove, Key: f.Key, Before: f.Doc}, stmt, note)
		if err == nil {
			o.N++
		}
		return err
	}
	if s.one {
		f, err := x.First("delete", &s.Criteria)
		if err != nil || f.Doc == nil {
			return err
		}
		return remove(&f)
	}
	w := x.FindMany("delete", &s.Criteria, false)
	if w.Err != nil {
		return w.Err
	}
	return w.Each(note, remove)
}
