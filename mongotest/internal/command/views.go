package command

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/collation"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/pipeline"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/core/views/

// inputOfView settles what the first stage of a command gets on the view that its namespace is.
func inputOfView(x call.Locked, a *aggregation) (input, error) {
	view, err := x.Lookup(x.Command.Full)
	if err == nil {
		err = a.Fits(view)
	}
	if err != nil {
		return input{}, err
	}
	ns, stages, err := x.Resolve(x.Command.Full)
	if err != nil {
		return input{}, err
	}
	_, coll, _ := strings.Cut(ns, ".")
	on := *a
	on.stages = query.Array(append(stages, query.Elements(a.stages)...)).Data
	if err := on.parse(pipelineOptions(x.Call, x.Command.DB, coll)); err != nil {
		return input{}, err
	}
	full := x.Command.Full
	x.Command.Full, x.Result.OnView = ns, false
	in, err := ownInput(x, &on)
	x.Command.Full = full
	return in, err
}

// readView executes a find, count or distinct on a view, which is an aggregation.
func readView(x *call.Call, q *call.Criteria, filter, projection string) ([][]byte, error) {
	x.Result.OnView = false
	a := aggregation{cursor: true, let: x.Result.Vars.Raw, hint: q.Hint, Collating: q.Collating}
	stages, err := viewStages(x, filter, projection)
	if err != nil {
		return nil, err
	}
	a.stages = query.Array(stages).Data
	if err := a.parse(pipelineOptions(x, x.Command.DB, x.Command.Coll)); err != nil {
		return nil, err
	}
	if x.Result.Vars.Values, err = a.Vars(x.Context()); err != nil {
		return nil, err
	}
	return aggregate(x, &a)
}

// viewStages returns the stages that a command's arguments stand for; filter and projection are the names that it has for them.
func viewStages(x *call.Call, filter, projection string) ([]query.Value, error) {
	names := [...]struct{ field, stage string }{{filter, "$match"}, {"sort", "$sort"}, {"skip", "$skip"}, {"limit", "$limit"}, {projection, "$project"}}
	var stages []query.Value
	for _, n := range names {
		v := x.Arg(n.field)
		empty := v.Missing() || v.Type == bson.TypeNull || v.IsDocument() && len(v.Data) == len(query.EmptyDocument)
		if number, ok := v.Integer(); empty || ok && number == 0 || !query.Lookup(v.Data, "$natural").Missing() && n.stage == "$sort" {
			continue
		}
		at, stage := wire.BeginDocument(nil)
		stages = append(stages, query.Document(wire.EndDocument(wire.AppendValue(stage, n.stage, v.Type, v.Data), at)))
	}
	limit := x.Arg("limit")
	one, _ := limit.Integer()
	for _, name := range [...]string{"min", "max", "returnKey", "showRecordId", "noCursorTimeout", "singleBatch", "readOnce"} {
		if v := x.Arg(name); (v.IsDocument() || v.True()) && (name != "singleBatch" || one != 1) {
			return nil, mongoerr.Errorf(mongoerr.InvalidPipelineOperator, "Option %s not supported in aggregation.", name)
		}
	}
	return stages, nil
}

// Collection implements pipeline.Source: what a stage reads of another collection, or of a view.
func (s *source) Collection(db, coll string) [][]byte {
	docs, err := s.documents(db, coll)
	if err != nil {
		s.x.Result.Conflict = err
	}
	return docs
}

// contents is what a namespace shows: the documents of a collection, and the stages that make a view of them, none if it is no view.
type contents struct {
	docs      [][]byte
	stages    []query.Value
	collation query.Collation // of the view
}

func (s *source) documents(db, coll string) ([][]byte, error) {
	found, err := s.read(db + "." + coll)
	if err != nil || len(found.stages) == 0 {
		return found.docs, err
	}
	options := pipelineOptions(s.x, db, coll)
	options.Collation = found.collation
	docs, err := s.ofView(&found, options)
	if err != nil {
		return nil, s.x.Executing("aggregate", err)
	}
	return docs, nil
}

func (s *source) ofView(found *contents, o pipeline.Options) ([][]byte, error) {
	p, err := pipeline.Parse(query.Array(found.stages).Data, o)
	if err != nil {
		return nil, err
	}
	vars, err := p.Vars(s.x.Context())
	if err != nil {
		return nil, err
	}
	return p.Run(s.x.Context(), vars, slices.Values(found.docs))
}

func (s *source) read(ns string) (contents, error) {
	if found, ok := s.known[ns]; ok {
		return found, nil
	}
	view, found, err := viewOf(s.x, ns)
	if err != nil {
		return contents{}, err
	}
	view.Scan(func(r *store.Record) bool {
		found.docs = append(found.docs, r.Doc)
		return true
	})
	if s.known == nil {
		s.known = make(map[string]contents)
	}
	s.known[ns] = found
	return found, nil
}

// viewOf returns the collection that a namespace shows, and the stages that make a view of it.
func viewOf(x *call.Call, ns string) (view store.View, found contents, err error) {
	err = call.WithLock(x, func(x call.Locked) (err error) {
		view, found, err = contentsOf(x, ns)
		return err
	})
	return view, found, err
}

func contentsOf(x call.Locked, ns string) (view store.View, found contents, err error) {
	c, err := x.Lookup(ns)
	if err != nil {
		return view, found, err
	}
	if c != nil {
		found.collation = c.Def.Options.Collation.Rule()
	}
	if ns, found.stages, err = x.Resolve(ns); err != nil {
		return view, found, err
	}
	c, err = x.Lookup(ns)
	return c.Frozen(), found, err
}

// checkViewPipeline refuses stages of which no view can be made.
func checkViewPipeline(x *call.Call, o *store.Options) error {
	options := pipelineOptions(x, x.Command.DB, o.ViewOn)
	options.Collation = o.Collation.Rule()
	if err := pipeline.Survey(o.Pipeline, options); err != nil {
		return err
	}
	p, err := pipeline.ParseView(o.Pipeline, options)
	switch {
	case err == nil && p.Target() != nil:
		err = mongoerr.Errorf(mongoerr.OptionNotSupportedOnView, "The aggregation stage %s in location %d of the pipeline cannot be used in the view "+
			"definition of %s because it writes to disk", targetName(p.Target()), len(query.Elements(o.Pipeline))-1, x.Command.Full)
	}
	if err != nil {
		return mongoerr.Because("Invalid pipeline for view "+x.Command.Full, err)
	}
	return nil
}

// otherView tells in what one of two definitions is another view than the other, or none.
func otherView(x *call.Call, has, want *store.Options) error {
	there := "namespace '" + x.Command.Full + "' already exists, but "
	switch {
	case has.ViewOn != "" && want.ViewOn == "":
		return mongoerr.Errorf(mongoerr.NamespaceExists, "%sis a view", there)
	case has.ViewOn == "" && want.ViewOn != "":
		return mongoerr.Errorf(mongoerr.NamespaceExists, "%sis a collection rather than a view", there)
	case has.ViewOn != want.ViewOn:
		return mongoerr.Errorf(mongoerr.NamespaceExists,
			"%sis a view on '%s.%s' rather than '%s.%s'", there, x.Command.DB, has.ViewOn, x.Command.DB, want.ViewOn)
	case !query.EqualDocuments(has.Pipeline, want.Pipeline):
		return mongoerr.Errorf(mongoerr.NamespaceExists,
			"%swith pipeline %s rather than %s", there, query.DocumentText(has.Pipeline), query.DocumentText(want.Pipeline))
	case has.ViewOn != "" && want.Uncollated != nil:
		return want.Uncollated
	case has.ViewOn != "" && !collation.Same(has.Collation, want.Collation):
		return mongoerr.Errorf(mongoerr.NamespaceExists, "%swith collation: %s rather than %s", there,
			query.DocumentText(has.ShownCollation()), query.DocumentText(want.AskedCollation()))
	}
	return nil
}

// checkViewChange refuses a collMod that does not fit what it is of.
func checkViewChange(x *call.Call, c *store.Collection) error {
	found := 0
	for i := range x.Command.Args {
		name := string(x.Command.Args[i].Key)
		ofView := name == "viewOn" || name == "pipeline"
		switch {
		case ofView && !c.IsView():
			return mongoerr.Errorf(mongoerr.InvalidOptions, "'%s' option only supported on a view", name)
		case !ofView && c.IsView():
			return mongoerr.Errorf(mongoerr.InvalidOptions, "option not supported on a view: %s", name)
		case ofView:
			found++
		}
	}
	if found == 1 && x.Controlled() {
		return mongoerr.Errorf(mongoerr.InvalidOptions, "Must specify both 'viewOn' and 'pipeline' when modifying a view and auth is enabled")
	}
	return nil
}
