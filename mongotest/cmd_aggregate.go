package mongotest

import (
	"cmp"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/changes"
	"github.com/holdfast-db/holdfast/mongotest/internal/explain"
	"github.com/holdfast-db/holdfast/mongotest/internal/javascript"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/pipeline"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/command/aggregate/

// aggregation is a parsed aggregate.
type aggregation struct {
	*pipeline.Pipeline
	batchSize int64
	hint      store.Hint
	stages    []byte
	let       []byte
	collating
	flaw    error // of the collation, which is found after those of the stages' names
	cursor  bool  // the option is there
	bypass  bool  // do not validate the written documents
	explain bool  // tell the plan
}

func cmdAggregate(x *call) error {
	collectionless := x.command.first.IsNumber()
	switch n, ok := x.command.first.Integer(); {
	case collectionless && (!ok || n != 1):
		return mongoerr.Errorf(mongoerr.BadValue, "Invalid command format: the 'aggregate' field must specify a collection name or 1")
	case !collectionless:
		if err := x.collectionName(); err != nil {
			return err
		}
	}
	a := aggregation{batchSize: firstBatch}
	for i := range x.command.args {
		if err := a.field(x, &x.command.args[i]); err != nil {
			return err
		}
	}
	if a.explain && !collectionless {
		return x.explainAggregate(explain.Planner)
	}
	if collectionless {
		x.command.coll, x.command.full = "", x.command.db+".$cmd.aggregate"
	}
	if collectionless && len(a.stages) == len(query.EmptyDocument) {
		return mongoerr.Errorf(mongoerr.InvalidNamespace, "{aggregate: 1} is not valid for an empty pipeline.")
	}
	a.inheritFor(x)
	err := a.parse(x.pipelineOptions(x.command.db, x.command.coll))
	if !isNoStage(err) {
		err = cmp.Or(x.command.api.CheckPipeline(a.stages), err)
	}
	if err != nil {
		return err
	}
	if x.result.vars.values, err = a.Vars(x.context()); err != nil {
		return err
	}
	err = x.answerAggregate(&a)
	if collectionless {
		x.command.full = ""
	}
	return err
}

func (x *call) answerAggregate(a *aggregation) error {
	name, spec := a.First()
	if x.inTransaction() && slices.Contains(stagesOutsideTransactions, name) {
		return notInTransaction(name)
	}
	if name == changes.Stage {
		return x.watch(a, spec)
	}
	if t := a.Target(); t != nil {
		if err := x.checkTarget(t); err != nil {
			return err
		}
	}
	docs, err := x.aggregate(a)
	if err == nil && a.Target() != nil {
		err = x.writeResults(a, docs)
		docs = nil
	}
	if err != nil {
		return err
	}
	return x.replyCursor(docs, nil, cursorReply{size: a.batchSize, single: a.Target() != nil, reads: a.Reads() && !a.Gathers()})
}

// stagesOutsideTransactions tell of the server and not of the data that a transaction sees. It is never written to.
var stagesOutsideTransactions = []string{"$collStats", "$currentOp", "$indexStats", "$listLocalSessions"}

func notInTransaction(stage string) error {
	return mongoerr.Errorf(mongoerr.OperationNotSupportedInTransaction,
		"Operation not permitted in transaction :: caused by :: Aggregation stage %s cannot "+
			"run within a multi-document transaction.", stage)
}

func (a *aggregation) field(x *call, e *wire.Element) error {
	switch string(e.Key) {
	case "pipeline":
		if e.Type != bson.TypeArray {
			return mongoerr.Errorf(mongoerr.TypeMismatch, "A pipeline must be an array of objects")
		}
		a.stages = e.Value
		return query.CheckDocument(e.Value)
	case "cursor":
		if e.Document() == nil {
			return mongoerr.Errorf(mongoerr.TypeMismatch, "cursor field must be missing or an object")
		}
		a.cursor = true
		var err error
		a.batchSize, err = x.cursorOption(e, a.batchSize)
		return err
	case "let":
		err := x.letField("aggregate", e)
		a.let = x.result.vars.raw
		return err
	case "hint":
		return a.hint.Parse(e)
	case "bypassDocumentValidation":
		a.bypass = e.True()
	case "collation":
		a.flaw = a.parseCollation(e)
	case "explain":
		if e.Type != bson.TypeBoolean {
			return mongoerr.Errorf(mongoerr.TypeMismatch, "explain must be a boolean")
		}
		a.explain = e.True()
	}
	return nil
}

// inheritFor gives the aggregation the collation of its collection, unless it reads changes.
func (a *aggregation) inheritFor(x *call) {
	first := query.Lookup(query.Lookup(a.stages, "0").Data, changes.Stage)
	if x.command.coll == "" || !first.Missing() {
		return
	}
	a.inherit(x, x.command.full)
	if a.own && a.flaw == nil {
		a.flaw = x.unfit(&a.collating)
	}
}

// pipelineOptions is what a pipeline on a collection, or with "" on a database, depends on.
func (x *call) pipelineOptions(db, coll string) pipeline.Options {
	return pipeline.Options{DB: db, Coll: coll, Version: x.client.set.Version}
}

func (a *aggregation) parse(o pipeline.Options) error {
	if !a.cursor {
		return mongoerr.Errorf(mongoerr.FailedToParse, "The 'cursor' option is required, except for aggregate with the explain argument")
	}
	if a.flaw != nil {
		return cmp.Or(pipeline.Survey(a.stages, o), a.flaw)
	}
	var err error
	// The compiled stages may be kept by a cursor, the message's bytes not.
	o.Let, o.Collation = slices.Clone(a.let), a.rule()
	a.Pipeline, err = pipeline.Parse(slices.Clone(a.stages), o)
	return err
}

// aggregate runs the pipeline on what the read concern sees.
func (x *call) aggregate(a *aggregation) ([][]byte, error) {
	in, err := x.input(a)
	if err != nil {
		return nil, err
	}
	docs, err := in.documents(x)
	if err != nil {
		return nil, err
	}
	p := in.of.Pipeline
	if in.inOrder {
		p = p.InOrder()
	}
	docs, err = p.Run(x.context(), x.result.vars.values, slices.Values(docs))
	if x.result.conflict != nil {
		return nil, x.result.conflict
	}
	if err != nil {
		return nil, x.executing("aggregate", err)
	}
	return docs, nil
}

// input is what the first stage of an aggregation gets.
type input struct {
	of *aggregation // the command's, with the stages of the view that it is on
	criteria
	scan
}

// input settles what the first stage gets.
func (x *call) input(a *aggregation) (input, error) {
	if err := x.reading(); err != nil {
		return input{}, err
	}
	defer x.client.set.Unlock()
	x.result.seen = min(x.result.seen, x.client.member.Data.Log.Last()) // the other collections are read later, as they are now
	if a.Target() != nil {
		if err := x.checkIndexLocked(a); err != nil {
			return input{}, err
		}
	}
	if err := x.joinedViewsLocked(a); err != nil {
		return input{}, err
	}
	in, err := x.inputLocked(a)
	if x.result.onView {
		in, err = x.inputOfViewLocked(a)
	}
	if err == nil {
		err = in.of.CheckMeta()
	}
	return in, err
}

func (x *call) inputLocked(a *aggregation) (input, error) {
	in := input{of: a, criteria: criteria{hint: a.hint, vars: x.result.vars.values}}
	if err := in.filter.Parse(query.EmptyDocument); err != nil {
		return in, err
	}
	if first := a.Filter(); first != nil {
		if first.FindsByID() {
			in.filter = *first // the stage looks at it again; this only finds it
		}
	}
	var err error
	x.result.hint = a.hint
	if a.SearchesText() && (a.hint.Named || a.hint.Pattern != nil || a.hint.Natural != 0) {
		return in, mongoerr.Errorf(mongoerr.BadValue, "text and hint not allowed in same query")
	}
	if !a.Reads() || x.command.coll == "" {
		_, err = x.collectionLocked(x.command.full) // it may be a view
		return in, err
	}
	in.sort, in.collating = a.SortByID(), a.collating
	in.scan, err = x.scanLocked(&in.criteria, (*store.Collection).Frozen)
	return in, err
}

// documents returns the documents for the first stage.
func (in *input) documents(x *call) ([][]byte, error) {
	var docs [][]byte
	err := x.find("aggregate", &in.criteria, in.scan, func(r *store.Record) bool {
		docs = append(docs, r.Doc)
		return true
	})
	return docs, err
}

// source is what the other stages of a pipeline read of the server.
type source struct {
	x     *call
	known map[string]contents // by namespace, so that each is the same for every document of the input
}

// Engine returns the engine that runs the command's scripts.
func (s *source) Engine() *javascript.Engine { return s.x.engine() }

// joinedViewsLocked refuses stages that read or name a view with another collation than that of the pipeline.
func (x *call) joinedViewsLocked(a *aggregation) error {
	if a.collation == nil && !x.client.member.Data.Collates() {
		return nil
	}
	involved := store.Joined(a.stages)
	if t := a.Target(); t != nil && t.DB == x.command.db {
		involved = append(involved, t.Coll)
	}
	for _, coll := range involved {
		ns := x.command.db + "." + coll
		view, err := x.lookupLocked(ns)
		if err != nil {
			return err
		}
		if a.fits(view) != nil {
			return mongoerr.Errorf(mongoerr.OptionNotSupportedOnView, "%s%s", errViewCollation.Message, ns)
		}
	}
	return nil
}
