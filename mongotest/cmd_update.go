package mongotest

import (
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/journal"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/command/update/

// updateStatement is one compiled statement of an update.
type updateStatement struct {
	criteria
	raw    []byte
	update *query.Update
	upsert bool
	insert *query.Update // by which an upsert makes its document
	multi  bool
	err    error
}

func cmdUpdate(x *call) error {
	if err := x.targetOf("updates"); err != nil {
		return err
	}
	ordered, err := x.orderedArg()
	if err != nil {
		return err
	}
	docs, err := x.batchDocuments("updates")
	if err != nil {
		return err
	}
	list := make([]updateStatement, len(docs))
	x.noteStatements()
	for i := range docs {
		if err := list[i].parse(x, x.result.entries[i].Statement); err != nil {
			return err
		}
		if x.retryable() && list[i].multi {
			list[i].err = mongoerr.Errorf(mongoerr.InvalidOptions, "Cannot use (or request) retryable writes with multi=true")
		}
	}
	if err := x.writeStatements(len(list), ordered, func(i int, o *outcome) bool { return x.updateOneLocked(&list[i], i, o) }); err != nil {
		return err
	}
	for i := range list {
		if isNoStage(list[i].err) {
			return list[i].err // of the whole command, although the other statements were executed
		}
	}
	return nil
}

// parse compiles the statement. An error that it returns is the command's; one that it keeps is the statement's own.
func (s *updateStatement) parse(x *call, doc []byte) error {
	s.raw = doc
	var parts updateParts
	err := fields.Update.Document(doc, func(e *wire.Element) error {
		switch string(e.Key) {
		case "q":
			parts.filter = e.Document()
		case "u":
			parts.update = query.Of(*e)
		case "upsert":
			s.upsert = e.True()
		case "multi":
			s.multi = e.True()
		case "hint":
			return s.hint.Parse(e)
		case "collation":
			s.ownCollation(e)
		case "arrayFilters":
			parts.arrayFilters = query.Of(*e)
		case "c":
			parts.constants = e.Value
		case "upsertSupplied":
			parts.supplied = e.True()
		case "sort":
			if !x.client.set.Version.AtLeast(8, 0) {
				return fields.Unknown("update.updates", "sort")
			}
			parts.sort = e.Value
		case "sampleId":
			return fields.Unsupported("update.updates", string(e.Key))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if parts.sort != nil && s.multi {
		return errSortedMulti
	}
	s.err = s.compileUpdate(x, &parts)
	return nil
}

var errSortedMulti = mongoerr.Errorf(mongoerr.FailedToParse, "Cannot specify sort with multi=true")

// updateParts is what a statement has of the language.
type updateParts struct {
	filter       []byte
	update       query.Value
	arrayFilters query.Value
	constants    []byte // nil for none
	sort         []byte // the same
	supplied     bool   // upsertSupplied
}

func (s *updateStatement) compileUpdate(x *call, p *updateParts) error {
	if err := query.CheckDocument(s.raw); err != nil {
		return err
	}
	hooks, err := x.hooks()
	if err != nil {
		return err
	}
	if p.supplied {
		if err := s.supply(p.constants); err != nil {
			return err
		}
	}
	if p.constants != nil {
		if !p.update.IsArray() {
			return mongoerr.Errorf(51198, "Constant values may only be specified for pipeline updates")
		}
		if hooks, s.vars, err = x.constants(p.constants); err != nil {
			return err
		}
	}
	if s.flaw != nil {
		return s.flaw
	}
	s.inherit(x, x.command.full)
	if s.update, err = s.parseUpdate(p.update, p.arrayFilters, hooks); err != nil {
		return err
	}
	if s.insert == nil {
		s.insert = s.update
	}
	if s.multi && s.update.IsReplacement() {
		return mongoerr.Errorf(mongoerr.FailedToParse, "multi update is not supported for replacement-style update")
	}
	if err := s.compileForUpdate(p.filter, hooks, s.upsert); err != nil {
		return err
	}
	if p.constants == nil {
		s.vars = x.result.vars.values
	}
	if p.sort != nil {
		if err = s.parseSort(p.sort); err != nil {
			return err
		}
		return s.checkNatural()
	}
	return nil
}

// supply takes the document that an upsert inserts from its constants.
func (s *updateStatement) supply(constants []byte) error {
	v := query.Lookup(constants, "new")
	switch {
	case !s.upsert:
		return mongoerr.Errorf(mongoerr.FailedToParse, "cannot specify 'upsertSupplied: true' for a non-upsert operation")
	case !v.IsDocument():
		return mongoerr.Errorf(mongoerr.FailedToParse, "the parameter 'upsertSupplied' is set to 'true', but no document was supplied")
	}
	s.insert = query.Replace(v.Data)
	return nil
}

// updateOneLocked executes one statement and reports whether it went well.
func (x *call) updateOneLocked(s *updateStatement, i int, o *outcome) bool {
	note := x.result.entries[i]
	stmt := note.StatementID
	if e := x.executedBeforeLocked(note, o); e != nil {
		if e.Before == nil {
			o.upserted = append(o.upserted, upserted{i, query.Lookup(e.After, "_id")})
		} else {
			o.modified++
		}
		return true
	}
	err := s.err
	if err != nil {
		err = x.refuseLocked(err, s.upsert)
	} else {
		err = x.matchAndUpdateLocked(s, i, stmt, note, o)
	}
	if err != nil {
		o.fail(i, note, err)
	}
	return err == nil
}

func (x *call) matchAndUpdateLocked(s *updateStatement, i int, stmt int32, note *journal.Entry, o *outcome) error {
	if err := x.updatableLocked(s.multi); err != nil {
		return err
	}
	if s.multi {
		return x.updateManyLocked(s, i, stmt, note, o)
	}
	f, err := x.firstLocked("update", &s.criteria)
	switch {
	case err != nil:
		return err
	case f.doc == nil:
		return x.upsertStatementLocked(s, i, stmt, note, o)
	}
	changed, err := x.updateFoundLocked(s, &f, stmt, note)
	if err == nil {
		o.updated(changed)
	}
	return err
}

// updateManyLocked updates all documents that match. If it fails, the updates before remain, and are not counted.
func (x *call) updateManyLocked(s *updateStatement, i int, stmt int32, note *journal.Entry, o *outcome) error {
	w := x.findManyLocked("update", &s.criteria, s.upsert)
	if x.evaluation.paused() {
		return w.err // it is executed again
	}
	if w.list.pieces == nil && w.err == nil {
		return x.upsertStatementLocked(s, i, stmt, note, o)
	}
	var done outcome
	err := w.eachLocked(note, func(f *found) error {
		changed, err := x.updateFoundLocked(s, f, stmt, note)
		if err == nil {
			done.updated(changed)
		}
		return err
	})
	if err == nil {
		o.add(&done)
	}
	return err
}

// upsertStatementLocked inserts a document for a statement that found none, if it is an upsert.
func (x *call) upsertStatementLocked(s *updateStatement, i int, stmt int32, note *journal.Entry, o *outcome) error {
	if !s.upsert {
		return nil
	}
	doc, err := x.upsertLocked("update", s.insert, &s.criteria, stmt, note)
	if err != nil {
		return err
	}
	o.n++
	o.upserted = append(o.upserted, upserted{i, query.Lookup(doc, "_id")})
	return nil
}

// updateFoundLocked updates a document that was found and reports whether that changed it.
func (x *call) updateFoundLocked(s *updateStatement, f *found, stmt int32, note *journal.Entry) (changed bool, err error) {
	after, err := x.applyLocked(f, s.update)
	if changed = err == nil && &after[0] != &f.doc[0]; changed {
		err = x.admissibleLocked(f.key, after, false)
	}
	if err != nil {
		return false, x.executing("update", err)
	}
	if changed {
		err = x.storeLocked(f.replaced(after, s.update), stmt, note)
	}
	return changed, err
}

// applyLocked applies an update to a document that was found. "$" stands for the array's element that it matched by.
func (x *call) applyLocked(f *found, u *query.Update) ([]byte, error) {
	return x.memoizedLocked(memoKey{u, &f.doc[0]}, func() ([]byte, error) { return x.apply(f, u) })
}

func (x *call) apply(f *found, u *query.Update) ([]byte, error) {
	x.result.match = f.match
	after, err := u.Apply(f.doc, query.Env{Now: time.Now(), Match: &x.result.match})
	if err == nil && !x.client.set.Version.StoresDollars() {
		err = store.CheckUpdatedNames(f.doc, after)
	}
	return after, err
}

// refuseLocked returns why a write is refused. That its namespace is a view is checked before errors of the language in it,
// and by then the real server has made the collection that an upsert writes into.
func (x *call) refuseLocked(why error, upsert bool) error {
	_, err := x.client.member.storedLocked(x.command.full)
	if err == nil && upsert {
		err = x.makeForUpsertLocked()
	}
	if err != nil {
		return err
	}
	return why
}

// makeForUpsertLocked makes the collection that an upsert writes into. It stays, even if there is no document for it.
func (x *call) makeForUpsertLocked() error {
	if x.client.member.Data.Collections[x.command.full] != nil || x.result.within != nil {
		return nil
	}
	_, err := x.makeLocked(x.command.full)
	return err
}

// upsertLocked inserts what an upsert makes of its filter and update, and returns the new document.
func (x *call) upsertLocked(command string, u *query.Update, q *criteria, stmt int32, note *journal.Entry) ([]byte, error) {
	if err := x.makeForUpsertLocked(); err != nil {
		return nil, err
	}
	doc, err := x.memoizedLocked(memoKey{by: u}, func() ([]byte, error) {
		x.result.match = query.Matching{Vars: q.vars, Work: x.work()}
		return u.Upsert(&q.filter, query.Env{Now: time.Now(), Match: &x.result.match})
	})
	if err == nil && !x.client.set.Version.StoresDollars() {
		err = store.CheckUpdatedNames(nil, doc)
	}
	if err != nil {
		return nil, x.executing(command, err)
	}
	doc, key, err := store.Prepared(doc)
	if err == nil {
		key, err = x.keyLocked(key, doc)
	}
	if err != nil {
		return nil, err
	}
	if err := x.admissibleLocked(key, doc, true); err != nil {
		return nil, x.executing(command, err)
	}
	return doc, x.storeLocked(&store.Entry{Kind: store.Put, Key: key, After: doc}, stmt, note)
}

// updatableLocked returns why an update is not executed if it is one of a time-series collection.
func (x *call) updatableLocked(multi bool) error {
	c, err := x.collectionLocked(x.command.full)
	switch {
	case err != nil || c == nil || c.Def.Options.Timeseries == nil:
		return err
	case !multi:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "Cannot perform a non-multi update on a time-series collection")
	}
	return mongoerr.Errorf(mongoerr.NotImplemented, "mongotest: updates of time-series collections are not supported")
}
