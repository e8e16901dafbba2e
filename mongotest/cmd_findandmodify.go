package mongotest

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/journal"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/command/findAndModify/

// modification is a parsed findAndModify.
type modification struct {
	criteria
	projection *query.Projection
	update     *query.Update
	remove     bool
	upsert     bool
	bypass     bool // do not validate the document
	after      bool // return the document after the update
}

// modified is what a findAndModify did.
type modified struct {
	value    []byte // the document to return, nil if there is none
	n        int32
	existing bool
	upserted query.Value
	found    query.Found // by the search
	retried  int32       // the statement id, -1 if it was executed now
}

func cmdFindAndModify(x *call) error {
	if err := x.collectionName(); err != nil {
		return err
	}
	f, err := x.modification()
	if err != nil && f != nil {
		return x.writing(func() error { return x.refuseLocked(err, f.upsert) })
	}
	if err != nil {
		return err
	}
	x.command.bypass = f.bypass
	var done modified
	note := x.note(max(x.command.stmtID, 0), slices.Clone(x.command.raw))
	err = x.writing(func() error {
		done = modified{retried: -1}
		err := x.modifyLocked(f, note, &done)
		if err != nil {
			note.ErrorCode = mongoerr.CodeOf(err)
		}
		return err
	})
	if err != nil {
		return err
	}
	return x.appendModified(f, &done)
}

// modification parses the command. Of its arguments it keeps copies: its parts may be kept. With an error of the language in
// it there is a modification.
func (x *call) modification() (*modification, error) {
	var f modification
	filter, update := query.EmptyDocument, query.Value{}
	var fields, arrayFilters query.Value
	for _, e := range x.command.args {
		e.Value = slices.Clone(e.Value)
		var err error
		switch string(e.Key) {
		case "fields":
			fields = query.Of(e)
		case "arrayFilters":
			arrayFilters = query.Of(e)
		case "let":
			err = x.letField("findAndModify", &e)
		case "hint":
			if err = x.since(4, 4, "findAndModify", "hint"); err == nil {
				err = f.hint.Parse(&e)
			}
		default:
			err = f.field(&e, &filter, &update)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := query.CheckDocument(x.command.raw); err != nil {
		return nil, err
	}
	switch {
	case f.remove && !update.Missing():
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "Cannot specify both an 'update' and 'remove'=true")
	case f.remove && f.upsert:
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "Cannot specify both 'upsert'=true and 'remove'=true ")
	case f.remove && f.after:
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "Cannot specify both 'new'=true and 'remove'=true; 'remove' always returns the "+
			"deleted document")
	case f.remove && !arrayFilters.Missing():
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "Cannot specify 'arrayFilters' and 'remove'=true")
	case update.IsArray() && !arrayFilters.Missing():
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "Cannot specify 'arrayFilters' and a pipeline update")
	case !f.remove && update.Missing():
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "Either an update or remove=true must be specified")
	}
	return &f, f.compileAll(x, filter, update, arrayFilters, fields)
}

func (f *modification) compileAll(x *call, filter []byte, update, arrayFilters, fields query.Value) error {
	if f.flaw != nil {
		return f.flaw
	}
	f.inherit(x, x.command.full)
	hooks, err := x.hooks()
	if err != nil {
		return err
	}
	if !f.remove {
		if f.update, err = f.parseUpdate(update, arrayFilters, hooks); err != nil {
			return err
		}
	}
	if err := f.compileForUpdate(filter, hooks, f.upsert); err != nil {
		return err
	}
	f.vars = x.result.vars.values
	if !fields.Missing() {
		if f.projection, err = x.projection(fields, &f.filter); err != nil {
			return err
		}
	}
	if f.projection.Positional() && f.after {
		return mongoerr.Errorf(mongoerr.BadValue, "cannot use a positional projection and return the new document")
	}
	return nil
}

func (f *modification) field(e *wire.Element, filter *[]byte, update *query.Value) error {
	var err error
	switch string(e.Key) {
	case "query":
		*filter = e.Value
	case "update":
		*update = query.Of(*e)
	case "sort":
		err = f.parseSort(e.Value)
	case "remove":
		f.remove = e.True()
	case "upsert":
		f.upsert = e.True()
	case "new":
		f.after = e.True()
	case "bypassDocumentValidation":
		f.bypass = e.True()
	case "collation":
		return f.parseCollation(e)
	}
	return err
}

func (x *call) modifyLocked(f *modification, note *journal.Entry, done *modified) error {
	stmt := note.StatementID
	if e := x.executedLocked(stmt); e != nil {
		note.Deduplicated = true
		done.retried = stmt
		f.retold(e, done)
		return nil
	}
	if !f.remove {
		if err := x.updatableLocked(false); err != nil {
			return err
		}
	}
	match, err := x.firstLocked("findAndModify", &f.criteria)
	ok := match.doc != nil
	done.found = match.match.Found
	switch {
	case err != nil:
		return err
	case !ok && f.upsert:
		doc, err := x.upsertLocked("findAndModify", f.update, &f.criteria, stmt, note)
		if err != nil {
			return err
		}
		done.n, done.upserted = 1, query.Lookup(doc, "_id")
		if f.after {
			done.value = doc
		}
		return nil
	case !ok:
		return nil
	case f.remove:
		done.n, done.value = 1, match.doc
		return x.storeLocked(&store.Entry{Kind: store.Remove, Key: match.key, Before: match.doc}, stmt, note)
	}
	after, err := x.applyLocked(&match, f.update)
	changed := err == nil && &after[0] != &match.doc[0]
	if changed {
		err = x.admissibleLocked(match.key, after, false)
	}
	if err != nil {
		return x.executing("findAndModify", err)
	}
	if changed {
		if err := x.storeLocked(match.replaced(after, f.update), stmt, note); err != nil {
			return err
		}
	}
	done.n, done.existing, done.value = 1, true, match.doc
	if f.after {
		done.value = after
	}
	return nil
}

// retold answers from the oplog entry of an execution that was recorded.
func (f *modification) retold(e *store.Entry, done *modified) {
	done.n = 1
	switch {
	case e.Kind == store.Remove:
		done.value = e.Before
	case e.Before == nil:
		done.upserted = query.Lookup(e.After, "_id")
	default:
		done.existing, done.value = true, e.Before
	}
	if f.after && e.Kind == store.Put {
		done.value = e.After
	}
}

func (x *call) appendModified(f *modification, done *modified) error {
	at, dst := wire.BeginEmbedded(x.result.out, "lastErrorObject")
	dst = wire.AppendInt32(dst, "n", done.n)
	if !f.remove {
		dst = wire.AppendBool(dst, "updatedExisting", done.existing)
	}
	if !done.upserted.Missing() {
		dst = wire.AppendValue(dst, "upserted", done.upserted.Type, done.upserted.Data)
	}
	dst = wire.EndDocument(dst, at)
	switch {
	case done.value == nil:
		dst = wire.AppendValue(dst, "value", bson.TypeNull, nil)
	case f.projection != nil:
		var err error
		if dst, err = f.projection.AppendElementWith(dst, "value", query.WithMeta(done.value, done.found), x.result.vars.values); err != nil {
			return x.executing("findAndModify", err)
		}
	default:
		dst = wire.AppendDocument(dst, "value", done.value)
	}
	if done.retried >= 0 {
		dst = wire.AppendInt32(dst, "retriedStmtId", done.retried)
	}
	x.result.out = dst
	return nil
}
