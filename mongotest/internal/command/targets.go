package command

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/collation"
	"github.com/holdfast-db/holdfast/mongotest/internal/journal"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/pipeline"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// checkTarget returns why the command may not write.
func checkTarget(x *call.Call, t *pipeline.Target) error {
	name := targetName(t)
	switch {
	case x.InTransaction():
		return notInTransaction(name)
	case x.Command.ReadConcern == call.LinearizableConcern || x.Command.ReadConcern == call.SnapshotConcern:
		return mongoerr.Errorf(mongoerr.InvalidOptions,
			"Command aggregate does not support { readConcern: { level: \"%s\", provenance: \"clientSupplied\" } } "+
				":: caused by :: %s cannot be used with a '%s' read concern level", x.Command.ReadConcern, name, x.Command.ReadConcern)
	}
	return nil
}

// checkIndex refuses a $merge by fields that do not tell documents apart.
func checkIndex(x call.Locked, a *aggregation) error {
	t := a.Target()
	if !t.Merge {
		return nil
	}
	c, err := x.Stored(t.DB + "." + t.Coll)
	byID := len(t.On) == 0 || slices.Equal(t.On, []string{"_id"})
	switch {
	case err != nil || c == nil && byID:
		return err
	case c != nil && c.Def.Options.Timeseries != nil:
		return mongoerr.Errorf(1074330, "Cannot find index to verify that join fields will be unique: Timeseries collections cannot have unique indexes ")
	case byID && collation.Same(c.Def.Options.Collation, a.Collation):
		return nil
	case c != nil && slices.ContainsFunc(c.Def.Indexes, func(ix *store.Index) bool { return ix.Identifies(t.On, a.Collation) }):
		return nil
	}
	return mongoerr.Errorf(51183, "Cannot find index to verify that join fields will be unique")
}

// writeResults writes what a pipeline returned to where its last stage says, as the primary.
func writeResults(x *call.Call, a *aggregation, docs [][]byte) error {
	w, err := onPrimary(x)
	if err != nil {
		return err
	}
	defer w.Evaluated()
	note := w.Note(0, nil)
	w.Result.Seen = math.MaxInt64 // as it is, whatever the pipeline has read
	w.Command.Bypass = a.bypass
	err = w.WritingUnits(func(w call.Locked) error {
		full := w.Command.Full
		defer func() { w.Command.Full = full }()
		err := storeResults(w, a, docs, x.Result.Vars.Values, note)
		if err == nil {
			return nil
		}
		note.ErrorCode = mongoerr.CodeOf(err)
		w.Command.Full = full
		return w.Executing("aggregate", err)
	})
	if w != x && err == nil {
		err = w.AwaitWriteConcern()
		x.Result.ConcernError = w.Result.ConcernError
	}
	return err
}

// onPrimary returns what executes the writes of the command: itself, or since 5.0 a secondary's stand-in on the primary.
func onPrimary(x *call.Call) (*call.Call, error) { return call.WithLockValue(x, standIn) }

func standIn(x call.Locked) (*call.Call, error) {
	rs := x.Client.Cluster
	p := rs.MemberOf(x.Client.Member.PrimaryLocked())
	switch {
	case p == x.Client.Member:
		return x.Call, nil
	case p == nil || !rs.Set.Version.AtLeast(5, 0):
		return nil, mongoerr.Errorf(mongoerr.NotWritablePrimary, "not primary")
	}
	w := &call.Call{Client: &call.Client{
		Cluster: rs, Set: rs.Set, Process: &p.Process, Points: p.Points, Counts: p.Counts.Load(), Member: p, Epoch: p.Epoch, ID: x.Client.ID, Plain: x.Client.Plain,
		Done: x.Client.Done,
	}, Command: x.Command}
	w.Result = w.Result.Again(0)
	w.Result.ID, w.Evaluation.EndsBy = x.Result.ID, x.Evaluation.EndsBy
	return w, nil
}

func storeResults(x call.Locked, a *aggregation, docs [][]byte, vars any, note *journal.Entry) error {
	t := a.Target()
	x.Command.Full = t.DB + "." + t.Coll
	if !t.Merge {
		return out(x, t, docs, note)
	}
	if err := call.CheckTarget(t.DB, t.Coll); err != nil {
		return err
	}
	return (&merge{x: x, Target: t, Collating: a.Collating, vars: vars, notes: []*journal.Entry{note}}).all(docs)
}

// out puts documents into a temporary collection like the one that is there, which then takes its place.
func out(x call.Locked, t *pipeline.Target, docs [][]byte, note *journal.Entry) error {
	target, notes := x.Command.Full, []*journal.Entry{note}
	c, err := x.Stored(target)
	if err != nil {
		return err
	}
	def, err := outDefinition(x.Call, t, c)
	if err != nil {
		return err
	}
	x.Command.Full = t.DB + replica.Temporary + store.NewUUID().String()
	if err := x.Unit(nil, func() error {
		return x.Append(&store.Entry{Op: store.Create, NS: x.Command.Full, Change: &store.Change{After: def}}, -1, nil)
	}); err != nil {
		return inNewDatabase("Creation of temporary $out collection failed", err)
	}
	made := &call.Origin{NS: x.Command.Full, ID: def.UUID}
	err = fill(x, made, docs)
	if err == nil {
		err = outNamed(t)
	}
	if err == nil {
		err = x.Unit(notes, func() error {
			if err := cmp.Or(made.Check(x), sameTarget(x, target, c)); err != nil {
				return err
			}
			return x.Append(&store.Entry{Op: store.Rename, NS: x.Command.Full, Change: &store.Change{Before: def, After: def, To: target}}, -1, note)
		})
	}
	if err != nil {
		dropTemporary(x)
	}
	return err
}

// outNamed returns why a temporary collection cannot get the name that is asked for.
func outNamed(t *pipeline.Target) error {
	if refused := call.CheckTarget(t.DB, t.Coll); refused != nil {
		return mongoerr.Errorf(mongoerr.IllegalOperation, "Failed to rename temporary $out collection :: caused by :: error with target namespace: %s",
			mongoerr.From(refused).Message)
	}
	return nil
}

// sameTarget refuses to replace a collection that others have made, dropped or changed since the command looked at it.
func sameTarget(x call.Locked, target string, before *store.Collection) error {
	c, err := x.Stored(target)
	if err != nil || c == before || c != nil && before != nil && c.Def == before.Def {
		return err
	}
	return mongoerr.Errorf(mongoerr.CommandFailed, "collection %s has changed while $out was executed", target)
}

// dropTemporary drops the temporary collection of an $out that failed. If the member is no longer the primary of its term, the next
// primary does that.
func dropTemporary(x call.Locked) {
	if m := x.Client.Member; m.Role == replica.Primary && m.Term == x.Result.Term && m.Data.Collections[x.Command.Full] != nil {
		m.DropLocked(x.Command.Full)
	}
}

// outDefinition returns the definition of the collection that $out makes, instead of another one; nil for none.
func outDefinition(x *call.Call, t *pipeline.Target, c *store.Collection) (*store.Definition, error) {
	var wanted store.Options
	var err error
	if !t.Timeseries.Missing() {
		if wanted, err = store.OutOptions(t.Timeseries, fixesBuckets(x)); err != nil {
			return nil, err
		}
	}
	fixed := query.Lookup(t.Timeseries.Data, "fixedBucketing")
	switch {
	case c == nil && !fixed.Missing():
		return nil, errFixedOut
	case c == nil:
		if err := wanted.Timeseries.CheckSpans(); err != nil {
			return nil, mongoerr.Because("Creation of temporary $out collection failed", err)
		}
		return store.DefinitionOf(wanted)
	case c.Def.Options.Capped:
		return nil, mongoerr.Errorf(17152, "namespace '%s' is capped so it can't be used for $out", x.Command.Full)
	case wanted.Timeseries != nil && c.Def.Options.Timeseries == nil:
		return nil, mongoerr.Errorf(7268700, "Cannot create a time-series collection from a non time-series collection or view.")
	case !fixed.Missing():
		return nil, errFixedOut
	case wanted.Timeseries != nil && !wanted.Timeseries.Same(c.Def.Options.Timeseries):
		return nil, mongoerr.Errorf(7406103, "Time-series options inputted must match the existing time-series collection. Received: %sFound: %s",
			query.DocumentText(t.Timeseries.Data), c.Def.Options.Timeseries.Text())
	}
	def := c.Def.With(c.Def.Indexes)
	def.UUID = store.NewUUID()
	return def, nil
}

// fill puts documents into a collection that the command has made.
func fill(x call.Locked, made *call.Origin, docs [][]byte) error {
	batch := bson.NewObjectID()
	for _, doc := range docs {
		in := prepareInsertion(x.Call, doc)
		in.batch = batch
		err := x.Unit(nil, func() error {
			if err := made.Check(x); err != nil {
				return err
			}
			return insertResult(x, &in, nil)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func insertResult(x call.Locked, in *insertion, note *journal.Entry) error {
	if in.err != nil {
		return in.err
	}
	if err := measured(x, in); err != nil {
		return err
	}
	key, err := keyOf(x, in.key, in.doc)
	if err != nil {
		return err
	}
	if err := x.Admissible(key, in.doc, true); err != nil {
		return err
	}
	return x.Store(&store.Entry{Op: store.Put, Key: key, After: in.doc}, -1, note)
}

// merge is the execution of a $merge.
type merge struct {
	x call.Locked
	*pipeline.Target
	call.Collating     // of the command
	vars           any // of the command
	notes          []*journal.Entry
	sparse         bool // the index that tells the documents apart has none without the fields
}

// merging is a result whose turn it is, with what is the same for each attempt.
type merging struct {
	doc       []byte
	there     call.Criteria // of what it is merged into
	insertion insertion
	update    *query.Update
}

// all merges documents, those behind one that fails as well.
func (m *merge) all(docs [][]byte) error {
	list := make([]mergeable, len(docs))
	c, err := m.x.Collection(m.x.Command.Full)
	if err == nil && c == nil {
		err = m.x.CheckNewDatabase(m.DB)
	}
	if err != nil {
		return err
	}
	m.sparse = c != nil && !m.byID() && !slices.ContainsFunc(c.Def.Indexes, func(ix *store.Index) bool {
		return !ix.Sparse() && ix.Identifies(m.On, m.Collation)
	})
	by := m.Collation
	if c == nil && m.byID() && m.WhenMatched != "pipeline" { // the real server looks into the index of _id of the collection that it makes
		by = nil
	}
	for i, doc := range docs {
		if err := m.x.Unit(nil, func() error { return m.prepare(&list[i], doc, by.Rule()) }); err != nil {
			return err
		}
	}
	var first error
	for i := range list {
		one := merging{doc: list[i].doc, there: call.Criteria{Filter: list[i].filter}}
		err := m.x.Unit(m.notes, func() error { return m.mergeOne(&one) })
		if m.x.Evaluation.Ended != nil {
			return err
		}
		first = cmp.Or(first, err)
	}
	return first
}

// byID reports whether documents are merged by their _ids.
func (m *merge) byID() bool { return len(m.On) == 0 || slices.Equal(m.On, []string{"_id"}) }

// prepare gives a result an _id, if it needs one, and makes the filter.
func (m *merge) prepare(r *mergeable, doc []byte, by query.Collation) error {
	on := m.On
	if len(on) == 0 {
		on = []string{"_id"}
	}
	if slices.Contains(on, "_id") && query.Lookup(doc, "_id").Missing() {
		id := bson.NewObjectID()
		doc = query.FrontID(query.Value{Type: bson.TypeObjectID, Data: id[:]}, doc)
	}
	at, filter := wire.BeginDocument(nil)
	for _, field := range on {
		v := valueAt(doc, strings.Split(field, "."))
		if v.IsArray() {
			return mongoerr.Errorf(51185, "$merge write error: 'on' field '%s' is an array", field)
		}
		if v.Missing() {
			v = query.Value{Type: bson.TypeNull}
		}
		if m.sparse && (v.Type == bson.TypeNull || v.Type == bson.TypeUndefined) {
			return mongoerr.Errorf(51132, "$merge write error: 'on' field '%s' cannot be missing, null or undefined if supporting index is sparse", field)
		}
		equal, d := wire.BeginEmbedded(filter, field)
		filter = wire.EndDocument(wire.AppendValue(d, "$eq", v.Type, v.Data), equal)
	}
	r.doc = doc
	return r.filter.ParseCollated(wire.EndDocument(filter, at), query.Hooks{}, by)
}

func (m *merge) mergeOne(r *merging) error {
	var match call.Found
	err := m.x.EachMatch("update", &r.there, func(there *store.Record) bool {
		match = call.Found{Key: there.Key, Doc: there.Doc}
		return false
	})
	switch {
	case err != nil:
		return err
	case m.WhenMatched == "fail":
		return m.insertNew(r, match.Doc != nil)
	case match.Doc != nil:
		if err := m.refused(r); err != nil {
			return err
		}
		return m.explain(m.change(r, &match), true)
	case m.WhenNotMatched == "insert":
		return m.explain(m.insert(r), m.WhenMatched == "pipeline")
	case m.WhenNotMatched == "fail":
		return mongoerr.Errorf(13113,
			"$merge could not find a matching document in the target collection for at least one document in the source collection")
	}
	return nil
}

func (m *merge) insert(r *merging) error {
	if r.insertion.doc == nil {
		r.insertion = prepareInsertion(m.x.Call, r.doc)
		r.insertion.batch = bson.NewObjectID()
	}
	return insertResult(m.x, &r.insertion, m.notes[0])
}

// insertNew inserts a result that must not be there.
func (m *merge) insertNew(r *merging, matched bool) error {
	err := m.insert(r)
	if err == nil || mongoerr.CodeOf(err) != mongoerr.DuplicateKey {
		return err
	}
	if matched {
		return mongoerr.Because("$merge with whenMatched: fail found an existing document with the same values for the 'on' fields", err)
	}
	return mongoerr.Because("$merge failed due to a DuplicateKey error", err)
}

// change does to a stored document what the stage says.
func (m *merge) change(r *merging, match *call.Found) (err error) {
	if r.update == nil {
		r.update, err = m.updateOf(r.doc)
	}
	u := r.update
	if u == nil || err != nil {
		return err
	}
	match.Match.Vars = m.vars
	after, err := updatedDocument(m.x, match, u)
	if err != nil || bytes.Equal(after, match.Doc) {
		return err
	}
	if err := m.x.Admissible(match.Key, after, false); err != nil {
		return err
	}
	return m.x.Store(match.Replaced(after, u), -1, m.notes[0])
}

// updateOf returns the update that a result stands for, nil for none.
func (m *merge) updateOf(doc []byte) (*query.Update, error) {
	switch m.WhenMatched {
	case "keepExisting":
		return nil, nil
	case "merge":
		at, set := wire.BeginDocument(nil)
		set = wire.EndDocument(wire.AppendDocument(set, "$set", doc), at)
		return query.ParseUpdate(query.Document(set), query.Value{}, query.Hooks{})
	case "replace":
		return query.Replace(doc), nil
	}
	c := m.x.Context()
	return query.Transform(func(there []byte, vars any) ([]byte, error) { return m.Apply(c, vars, there, doc) }), nil
}

// refused returns why a result could not be inserted if there were none to match it: then it is not merged either.
func (m *merge) refused(r *merging) error {
	c, err := m.x.Collection(m.x.Command.Full)
	if err != nil || c == nil || c.Def.Options.Filter == nil || m.x.Command.Bypass || m.WhenNotMatched != "insert" || m.WhenMatched == "pipeline" {
		return err
	}
	return m.x.Validate(&c.Def.Options, nil, r.doc)
}

// explain says what an error means for the stage; updating says whether also a refused document was one during an update.
func (m *merge) explain(err error, updating bool) error {
	if err == nil {
		return nil
	}
	code := mongoerr.CodeOf(err)
	if code != mongoerr.DocumentValidationFailure || updating {
		err = m.x.Executing("update", err)
	}
	switch code {
	case mongoerr.DuplicateKey:
		return mongoerr.Because("$merge failed due to a DuplicateKey error", err)
	case mongoerr.ImmutableField:
		return mongoerr.Because("$merge failed to update the matching document, did you attempt to modify the _id or the shard key?", err)
	}
	return err
}
