package command

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/journal"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/command/findAndModify/

// modification is a parsed findAndModify.
type modification struct {
	call.Criteria
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

func cmdFindAndModify(x *call.Call) error {
	if err := x.CollectionName(); err != nil {
		return err
	}
	f, err := parseModification(x)
	if err != nil && f != nil {
		return x.Writing(func(x call.Locked) error { return refuse(x, err, f.upsert) })
	}
	if err != nil {
		return err
	}
	x.Command.Bypass = f.bypass
	var done modified
	note := x.Note(max(x.Command.StmtID, 0), slices.Clone(x.Command.Raw))
	err = x.Writing(func(x call.Locked) error {
		done = modified{retried: -1}
		err := modify(x, f, note, &done)
		if err != nil {
			note.ErrorCode = mongoerr.CodeOf(err)
		} else if done.retried < 0 {
			countStatement(x, &f.Criteria, func() *explained { return f.explained(x.Call) })
		}
		return err
	})
	if err != nil {
		return err
	}
	return appendModified(x, f, &done)
}

// parseModification parses the command. Of its arguments it keeps copies: its parts may be kept. With an error of the language in
// it there is a modification.
func parseModification(x *call.Call) (*modification, error) {
	var f modification
	filter, update := query.EmptyDocument, query.Value{}
	var fields, arrayFilters query.Value
	for _, e := range x.Command.Args {
		e.Value = slices.Clone(e.Value)
		var err error
		switch string(e.Key) {
		case "fields":
			fields = query.Of(e)
		case "arrayFilters":
			arrayFilters = query.Of(e)
		case "let":
			err = x.LetField("findAndModify", &e)
		case "hint":
			if err = x.Since(4, 4, "findAndModify", "hint"); err == nil {
				err = f.Hint.Parse(&e)
			}
		default:
			err = f.field(&e, &filter, &update)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := query.CheckDocument(x.Command.Raw); err != nil {
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

func (f *modification) compileAll(x *call.Call, filter []byte, update, arrayFilters, fields query.Value) error {
	if f.Flaw != nil {
		return f.Flaw
	}
	f.Inherit(x, x.Command.Full)
	hooks, err := x.Hooks()
	if err != nil {
		return err
	}
	if !f.remove {
		if f.update, err = f.ParseUpdate(update, arrayFilters, hooks); err != nil {
			return err
		}
	}
	if err := f.CompileForUpdate(filter, hooks, f.upsert); err != nil {
		return err
	}
	f.Vars = x.Result.Vars.Values
	if !fields.Missing() {
		if f.projection, err = parseProjection(x, fields, &f.Filter); err != nil {
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
		err = f.ParseSort(e.Value)
	case "remove":
		f.remove = e.True()
	case "upsert":
		f.upsert = e.True()
	case "new":
		f.after = e.True()
	case "bypassDocumentValidation":
		f.bypass = e.True()
	case "collation":
		return f.ParseCollation(e)
	}
	return err
}

func modify(x call.Locked, f *modification, note *journal.Entry, done *modified) error {
	stmt := note.StatementID
	if e := x.Executed(stmt); e != nil {
		note.Deduplicated = true
		done.retried = stmt
		f.retold(e, done)
		return nil
	}
	if !f.remove {
		if err := checkSeriesModified(x); err != nil {
			return err
		}
	}
	match, err := x.First("findAndModify", &f.Criteria)
	ok := match.Doc != nil
	done.found = match.Match.Found
	switch {
	case err != nil:
		return err
	case !ok && f.upsert:
		doc, err := upsert(x, "findAndModify", f.update, &f.Criteria, stmt, note)
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
		done.n, done.value = 1, match.Doc
		return x.Store(&store.Entry{Op: store.Remove, Key: match.Key, Before: match.Doc}, stmt, note)
	}
	after, err := updatedDocument(x, &match, f.update)
	changed := err == nil && &after[0] != &match.Doc[0]
	if changed {
		err = x.Admissible(match.Key, after, false)
	}
	if err != nil {
		return x.Executing("findAndModify", err)
	}
	if changed {
		if err := x.Store(match.Replaced(after, f.update), stmt, note); err != nil {
			return err
		}
	}
	done.n, done.existing, done.value = 1, true, match.Doc
	if f.after {
		done.value = after
	}
	return nil
}

// retold answers from the oplog entry of an execution that was recorded.
func (f *modification) retold(e *store.Entry, done *modified) {
	done.n = 1
	switch {
	case e.Op == store.Remove:
		done.value = e.Before
	case e.Before == nil:
		done.upserted = query.Lookup(e.After, "_id")
	default:
		done.existing, done.value = true, e.Before
	}
	if f.after && e.Op == store.Put {
		done.value = e.After
	}
}

func appendModified(x *call.Call, f *modification, done *modified) error {
	at, dst := wire.BeginEmbedded(x.Result.Out, "lastErrorObject")
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
		if dst, err = f.projection.AppendElementWith(dst, "value", query.WithMeta(done.value, done.found), x.Result.Vars.Values); err != nil {
			return x.Executing("findAndModify", err)
		}
	default:
		dst = wire.AppendDocument(dst, "value", done.value)
	}
	if done.retried >= 0 {
		dst = wire.AppendInt32(dst, "retriedStmtId", done.retried)
	}
	x.Result.Out = dst
	return nil
}
