package command

import (
	"cmp"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
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
	call.Collating
	flaw    error // of the collation, which is found after those of the stages' names
	cursor  bool  // the option is there
	bypass  bool  // do not validate the written documents
	explain bool  // tell the plan
}

func cmdAggregate(x *call.Call) error {
	collectionless := x.Command.First.IsNumber()
	switch n, ok := x.Command.First.Integer(); {
	case collectionless && (!ok || n != 1):
		return mongoerr.Errorf(mongoerr.BadValue, "Invalid command format: the 'aggregate' field must specify a collection name or 1")
	case !collectionless:
		if err := x.CollectionName(); err != nil {
			return err
		}
	}
	a := aggregation{batchSize: firstBatch}
	for i := range x.Command.Args {
		if err := a.field(x, &x.Command.Args[i]); err != nil {
			return err
		}
	}
	if a.explain && !collectionless {
		return explainAggregate(x, explain.Planner)
	}
	if collectionless {
		x.Command.Coll, x.Command.Full = "", x.Command.DB+".$cmd.aggregate"
	}
	if collectionless && len(a.stages) == len(query.EmptyDocument) {
		return mongoerr.Errorf(mongoerr.InvalidNamespace, "{aggregate: 1} is not valid for an empty pipeline.")
	}
	a.inheritFor(x)
	err := a.parse(pipelineOptions(x, x.Command.DB, x.Command.Coll))
	if !isNoStage(err) {
		err = cmp.Or(x.Command.API.CheckPipeline(a.stages), err)
	}
	if err != nil {
		return err
	}
	if x.Result.Vars.Values, err = a.Vars(x.Context()); err != nil {
		return err
	}
	err = answerAggregate(x, &a)
	if collectionless {
		x.Command.Full = ""
	}
	return err
}

func answerAggregate(x *call.Call, a *aggregation) error {
	name, spec := a.First()
	if x.InTransaction() && slices.Contains(stagesOutsideTransactions, name) {
		return notInTransaction(name)
	}
	if name == changes.Stage {
		return watch(x, a, spec)
	}
	if t := a.Target(); t != nil {
		if err := checkTarget(x, t); err != nil {
			return err
		}
	}
	docs, err := aggregate(x, a)
	if err == nil && a.Target() != nil {
		err = writeResults(x, a, docs)
		docs = nil
	}
	if err != nil {
		return err
	}
	return x.ReplyCursor(docs, nil, call.CursorReply{Size: a.batchSize, Single: a.Target() != nil, Reads: a.Reads() && !a.Gathers()})
}

// stagesOutsideTransactions tell of the server and not of the data that a transaction sees. It is never written to.
var stagesOutsideTransactions = []string{"$collStats", "$currentOp", "$indexStats", "$listLocalSessions"}

func notInTransaction(stage string) error {
	return mongoerr.Errorf(mongoerr.OperationNotSupportedInTransaction,
		"Operation not permitted in transaction :: caused by :: Aggregation stage %s cannot "+
			"run within a multi-document transaction.", stage)
}

func (a *aggregation) field(x *call.Call, e *wire.Element) error {
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
		a.batchSize, err = x.CursorOption(e, a.batchSize)
		return err
	case "let":
		err := x.LetField("aggregate", e)
		a.let = x.Result.Vars.Raw
		return err
	case "hint":
		return a.hint.Parse(e)
	case "bypassDocumentValidation":
		a.bypass = e.True()
	case "collation":
		a.flaw = a.ParseCollation(e)
	case "explain":
		if e.Type != bson.TypeBoolean {
			return mongoerr.Errorf(mongoerr.TypeMismatch, "explain must be a boolean")
		}
		a.explain = e.True()
	}
	return nil
}

// inheritFor gives the aggregation the collation of its collection, unless it reads changes.
func (a *aggregation) inheritFor(x *call.Call) {
	first := query.Lookup(query.Lookup(a.stages, "0").Data, changes.Stage)
	if x.Command.Coll == "" || !first.Missing() {
		return
	}
	a.Inherit(x, x.Command.Full)
	if a.Own && a.flaw == nil {
		a.flaw = x.Unfit(&a.Collating)
	}
}

// pipelineOptions is what a pipeline on a collection, or with "" on a database, depends on.
func pipelineOptions(x *call.Call, db, coll string) pipeline.Options {
	return pipeline.Options{DB: db, Coll: coll, Version: x.Client.Set.Version}
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
	o.Let, o.Collation = slices.Clone(a.let), a.Rule()
	a.Pipeline, err = pipeline.Parse(slices.Clone(a.stages), o)
	return err
}

// aggregate runs the pipeline on what the read concern sees.
func aggregate(x *call.Call, a *aggregation) ([][]byte, error) {
	in, err := inputOf(x, a)
	if err != nil {
		return nil, err
	}
	docs, err := in.documents(x)
	if err != nil {
		return nil, err
	}
	p := in.of.Pipeline
	if in.InOrder {
		p = p.InOrder()
	}
	docs, err = p.Run(x.Context(), x.Result.Vars.Values, slices.Values(docs))
	if x.Result.Conflict != nil {
		return nil, x.Result.Conflict
	}
	if err != nil {
		return nil, x.Executing("aggregate", err)
	}
	if in.of.Reads() {
		countStages(x, in.ns, query.Elements(in.of.stages), &in.Criteria)
	}
	return docs, nil
}

// input is what the first stage of an aggregation gets.
type input struct {
	of *aggregation // the command's, with the stages of the view that it is on
	ns string
	call.Criteria
	call.Scan
}

// inputOf settles what the first stage gets.
func inputOf(x *call.Call, a *aggregation) (input, error) {
	return call.ReadValue(x, func(x call.Locked) (input, error) { return settledInput(x, a) })
}

func settledInput(x call.Locked, a *aggregation) (input, error) {
	x.Result.Seen = min(x.Result.Seen, x.Client.Member.Data.Log.Last()) // the other collections are read later, as they are now
	if a.Target() != nil {
		if err := checkIndex(x, a); err != nil {
			return input{}, err
		}
	}
	if err := joinedViews(x, a); err != nil {
		return input{}, err
	}
	in, err := ownInput(x, a)
	if x.Result.OnView {
		in, err = inputOfView(x, a)
	}
	if err == nil {
		err = in.of.CheckMeta()
	}
	return in, err
}

// ownInput is what the first stage gets of the command's own collection.
func ownInput(x call.Locked, a *aggregation) (input, error) {
	in := input{of: a, ns: x.Command.Full, Criteria: call.Criteria{Hint: a.hint, Vars: x.Result.Vars.Values}}
	if err := in.Filter.Parse(query.EmptyDocument); err != nil {
		return in, err
	}
	if first := a.Filter(); first != nil {
		if first.FindsByID() {
			in.Filter = *first // the stage looks at it again; this only finds it
		}
	}
	var err error
	x.Result.Hint = a.hint
	if a.SearchesText() && (a.hint.Named || a.hint.Pattern != nil || a.hint.Natural != 0) {
		return in, mongoerr.Errorf(mongoerr.BadValue, "text and hint not allowed in same query")
	}
	if !a.Reads() || x.Command.Coll == "" {
		_, err = x.Collection(x.Command.Full) // it may be a view
		return in, err
	}
	in.Sort, in.Collating = a.SortByID(), a.Collating
	in.Scan, err = x.Scan(&in.Criteria, (*store.Collection).Frozen)
	return in, err
}

// documents returns the documents for the first stage.
func (in *input) documents(x *call.Call) ([][]byte, error) {
	var docs [][]byte
	err := x.Find("aggregate", &in.Criteria, in.Scan, func(r *store.Record) bool {
		docs = append(docs, r.Doc)
		return true
	})
	return docs, err
}

// source is what the other stages of a pipeline read of the server.
type source struct {
	x     *call.Call
	known map[string]contents // by namespace, so that each is the same for every document of the input
}

// NewSource returns what the stages of a command's pipelines read of the server.
func NewSource(x *call.Call) pipeline.Source { return &source{x: x} }

// Engine returns the engine that runs the command's scripts.
func (s *source) Engine() *javascript.Engine { return s.x.Engine() }

// joinedViews refuses stages that read or name a view with another collation than that of the pipeline.
func joinedViews(x call.Locked, a *aggregation) error {
	if a.Collation == nil && !x.Client.Member.Data.Collates() {
		return nil
	}
	involved := store.Joined(a.stages)
	if t := a.Target(); t != nil && t.DB == x.Command.DB {
		involved = append(involved, t.Coll)
	}
	for _, coll := range involved {
		ns := x.Command.DB + "." + coll
		view, err := x.Lookup(ns)
		if err != nil {
			return err
		}
		if a.Fits(view) != nil {
			return mongoerr.Errorf(mongoerr.OptionNotSupportedOnView, "%s%s", call.ErrViewCollation.Message, ns)
		}
	}
	return nil
}
