package command

import (
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/journal"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/command/update/

// updateStatement is one compiled statement of an update.
type updateStatement struct {
	call.Criteria
	raw    []byte
	parts  updateParts
	update *query.Update
	upsert bool
	insert *query.Update // by which an upsert makes its document
	multi  bool
	err    error
}

func cmdUpdate(x *call.Call) error {
	if err := x.TargetOf("updates"); err != nil {
		return err
	}
	ordered, err := x.OrderedArg()
	if err != nil {
		return err
	}
	docs, err := x.BatchDocuments("updates")
	if err != nil {
		return err
	}
	list := make([]updateStatement, len(docs))
	x.NoteStatements()
	for i := range docs {
		if err := list[i].parse(x, x.Result.Entries[i].Statement); err != nil {
			return err
		}
		if x.Retryable() && list[i].multi {
			list[i].err = mongoerr.Errorf(mongoerr.InvalidOptions, "Cannot use (or request) retryable writes with multi=true")
		}
	}
	if err := x.WriteStatements(len(list), ordered, func(x call.Locked, i int, o *call.Outcome) bool { return runUpdate(x, &list[i], i, o) }); err != nil {
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
func (s *updateStatement) parse(x *call.Call, doc []byte) error {
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
			return s.Hint.Parse(e)
		case "collation":
			s.OwnCollation(e)
		case "arrayFilters":
			parts.arrayFilters = query.Of(*e)
		case "c":
			parts.constants = e.Value
		case "upsertSupplied":
			parts.supplied = e.True()
		case "sort":
			if !x.Client.Set.Version.AtLeast(8, 0) {
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

func (s *updateStatement) compileUpdate(x *call.Call, p *updateParts) error {
	s.parts = *p
	if err := query.CheckDocument(s.raw); err != nil {
		return err
	}
	hooks, err := x.Hooks()
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
		if hooks, s.Vars, err = x.Constants(p.constants); err != nil {
			return err
		}
	}
	if s.Flaw != nil {
		return s.Flaw
	}
	s.Inherit(x, x.Command.Full)
	if s.update, err = s.ParseUpdate(p.update, p.arrayFilters, hooks); err != nil {
		return err
	}
	if s.insert == nil {
		s.insert = s.update
	}
	if s.multi && s.update.IsReplacement() {
		return mongoerr.Errorf(mongoerr.FailedToParse, "multi update is not supported for replacement-style update")
	}
	if err := s.CompileForUpdate(p.filter, hooks, s.upsert); err != nil {
		return err
	}
	if p.constants == nil {
		s.Vars = x.Result.Vars.Values
	}
	if p.sort != nil {
		if err = s.ParseSort(p.sort); err != nil {
			return err
		}
		return s.CheckNatural()
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

// runUpdate executes one statement and reports whether it went well.
func runUpdate(x call.Locked, s *updateStatement, i int, o *call.Outcome) bool {
	note := x.Result.Entries[i]
	stmt := note.StatementID
	if e := x.ExecutedBefore(note, o); e != nil {
		if e.Before == nil {
			o.Upserted = append(o.Upserted, call.Upserted{Index: i, ID: query.Lookup(e.After, "_id")})
		} else {
			o.Modified++
		}
		return true
	}
	err := s.err
	if err != nil {
		if of := s.ofSeries(x); of != nil { // which is told first
			err = of
		}
		err = refuse(x, err, s.upsert)
	} else {
		err = matchAndUpdate(x, s, i, stmt, note, o)
	}
	if err != nil {
		o.Fail(i, note, err)
		return false
	}
	countStatement(x, &s.Criteria, s.explained)
	return true
}

func matchAndUpdate(x call.Locked, s *updateStatement, i int, stmt int32, note *journal.Entry, o *call.Outcome) error {
	if err := s.ofSeries(x); err != nil {
		return err
	}
	if s.multi {
		return updateMany(x, s, i, stmt, note, o)
	}
	f, err := x.First("update", &s.Criteria)
	switch {
	case err != nil:
		return err
	case f.Doc == nil:
		return upsertStatement(x, s, i, stmt, note, o)
	}
	changed, err := updateFound(x, s, &f, stmt, note)
	if err == nil {
		o.Updated(changed)
	}
	return err
}

// updateMany updates all documents that match. If it fails, the updates before remain, and are not counted.
func updateMany(x call.Locked, s *updateStatement, i int, stmt int32, note *journal.Entry, o *call.Outcome) error {
	w := x.FindMany("update", &s.Criteria, s.upsert)
	if x.Evaluation.Paused() {
		return w.Err // it is executed again
	}
	if w.List.Pieces == nil && w.Err == nil {
		return upsertStatement(x, s, i, stmt, note, o)
	}
	var done call.Outcome
	err := w.Each(note, func(f *call.Found) error {
		changed, err := updateFound(x, s, f, stmt, note)
		if err == nil {
			done.Updated(changed)
		}
		return err
	})
	if err == nil {
		o.Add(&done)
	}
	return err
}

// upsertStatement inserts a document for a statement that found none, if it is an upsert.
func upsertStatement(x call.Locked, s *updateStatement, i int, stmt int32, note *journal.Entry, o *call.Outcome) error {
	if !s.upsert {
		return nil
	}
	doc, err := upsert(x, "update", s.insert, &s.Criteria, stmt, note)
	if err != nil {
		return err
	}
	o.N++
	o.Upserted = append(o.Upserted, call.Upserted{Index: i, ID: query.Lookup(doc, "_id")})
	return nil
}

// updateFound updates a document that was found and reports whether that changed it.
func updateFound(x call.Locked, s *updateStatement, f *call.Found, stmt int32, note *journal.Entry) (changed bool, err error) {
	after, err := updatedDocument(x, f, s.update)
	if err == nil {
		after, err = measuredAgain(x, f.Doc, after)
	}
	if changed = err == nil && &after[0] != &f.Doc[0]; changed {
		err = x.Admissible(f.Key, after, false)
	}
	if err != nil {
		return false, x.Executing("update", err)
	}
	if changed {
		err = x.Store(f.Replaced(after, s.update), stmt, note)
	}
	return changed, err
}

// updatedDocument applies an update to a document that was found. "$" stands for the array's element that it matched by.
func updatedDocument(x call.Locked, f *call.Found, u *query.Update) ([]byte, error) {
	return x.Memoized(call.MemoKey{By: u, Doc: &f.Doc[0]}, func() ([]byte, error) { return apply(x.Call, f, u) })
}

func apply(x *call.Call, f *call.Found, u *query.Update) ([]byte, error) {
	x.Result.Match = f.Match
	after, err := u.Apply(f.Doc, query.Env{Now: time.Now(), Stamp: stampTime(x), Match: &x.Result.Match})
	if err == nil && !x.Client.Set.Version.StoresDollars() {
		err = store.CheckUpdatedNames(f.Doc, after)
	}
	return after, err
}

// refuse returns why a write is refused. That its namespace is a view is checked before errors of the language in it,
// and by then the real server has made the collection that an upsert writes into.
func refuse(x call.Locked, why error, upsert bool) error {
	_, err := x.Stored(x.Command.Full)
	if err == nil && upsert {
		err = makeForUpsert(x)
	}
	if err != nil {
		return err
	}
	return why
}

// makeForUpsert makes the collection that an upsert writes into. It stays, even if there is no document for it.
func makeForUpsert(x call.Locked) error {
	if x.Client.Member.Data.Collections[x.Command.Full] != nil || x.Result.Within != nil {
		return nil
	}
	_, err := x.Make(x.Command.Full)
	return err
}

// upsert inserts what an upsert makes of its filter and update, and returns the new document.
func upsert(x call.Locked, command string, u *query.Update, q *call.Criteria, stmt int32, note *journal.Entry) ([]byte, error) {
	if err := makeForUpsert(x); err != nil {
		return nil, err
	}
	doc, err := x.Memoized(call.MemoKey{By: u}, func() ([]byte, error) {
		x.Result.Match = query.Matching{Vars: q.Vars, Work: x.Work()}
		return u.Upsert(&q.Filter, query.Env{Now: time.Now(), Stamp: stampTime(x.Call), Match: &x.Result.Match})
	})
	if err == nil && !x.Client.Set.Version.StoresDollars() {
		err = store.CheckUpdatedNames(nil, doc)
	}
	if err != nil {
		return nil, x.Executing(command, err)
	}
	doc, key, err := store.Prepared(doc)
	if err == nil {
		key, err = keyOf(x, key, doc)
	}
	if err != nil {
		return nil, err
	}
	if err := x.Admissible(key, doc, true); err != nil {
		return nil, x.Executing(command, err)
	}
	return doc, x.Store(&store.Entry{Op: store.Put, Key: key, After: doc}, stmt, note)
}
