package mongotest

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/pipeline"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/core/views/

// maxViewDepth is how many views may stand on one another.
const maxViewDepth = 20

// isView tells whether what has a namespace is a view: a definition without documents of its own.
func (c *collection) isView() bool { return c != nil && c.def.options.viewOn != "" }

func notOnView(ns string) error {
	return mongoerr.Errorf(mongoerr.CommandNotSupportedOnView, "Namespace %s is a view, not a collection", ns)
}

// storedLocked returns the member's collection of a namespace, nil if there is none, and refuses a view.
func (m *member) storedLocked(ns string) (*collection, error) {
	c := m.collections[ns]
	if c.isView() {
		return nil, notOnView(ns)
	}
	return c, nil
}

// resolveLocked returns the collection that a namespace shows, and the stages that make a view of it: none if it is no view.
func (x *exec) resolveLocked(ns string) (string, []query.Value, error) {
	var stages []query.Value
	for range maxViewDepth {
		c, err := x.lookupLocked(ns)
		if err != nil || !c.isView() {
			return ns, stages, err
		}
		stages = append(query.Elements(c.def.options.pipeline), stages...)
		db, _, _ := strings.Cut(ns, ".")
		ns = db + "." + c.def.options.viewOn
	}
	return ns, nil, mongoerr.Errorf(mongoerr.ViewDepthLimitExceeded, "View depth too deep or view cycle detected; maximum depth is %d", maxViewDepth)
}

// runOnViewLocked runs the stages of a command on the view that its namespace is.
func (x *exec) runOnViewLocked(a *aggregation) ([][]byte, error) {
	ns, stages, err := x.resolveLocked(x.full)
	if err != nil {
		return nil, err
	}
	_, coll, _ := strings.Cut(ns, ".")
	on := *a
	on.stages = query.Array(append(stages, query.Elements(a.stages)...)).Data
	if err := on.parse(x.db, coll); err != nil {
		return nil, err
	}
	full := x.full
	x.full, x.onView = ns, false
	input, err := x.inputLocked(&on)
	x.full = full
	if err != nil {
		return nil, err
	}
	return x.runLocked(&on, input)
}

// readView executes a find, count or distinct on a view, which is an aggregation.
func (x *exec) readView(q *criteria, filter, projection string) ([][]byte, error) {
	x.onView = false
	a := aggregation{cursor: true, let: x.vars.raw, hint: q.hint}
	stages, err := x.viewStages(&a, filter, projection)
	if err != nil {
		return nil, err
	}
	a.stages = query.Array(stages).Data
	if err := a.parse(x.db, x.coll); err != nil {
		return nil, err
	}
	if x.vars.values, err = a.Vars(x.context()); err != nil {
		return nil, err
	}
	return x.aggregate(&a)
}

// viewStages returns the stages that a command's arguments stand for; filter and projection are the names that it has for them.
func (x *exec) viewStages(a *aggregation, filter, projection string) ([]query.Value, error) {
	names := [...]struct{ field, stage string }{{filter, "$match"}, {"sort", "$sort"}, {"skip", "$skip"}, {"limit", "$limit"}, {projection, "$project"}}
	var stages []query.Value
	for _, n := range names {
		v := x.arg(n.field)
		empty := v.Missing() || v.Type == bson.TypeNull || v.IsDocument() && len(v.Data) == len(emptyDocument)
		if number, ok := v.Integer(); empty || ok && number == 0 || !query.Lookup(v.Data, "$natural").Missing() && n.stage == "$sort" {
			continue
		}
		at, stage := wire.BeginDocument(nil)
		stages = append(stages, query.Document(wire.EndDocument(wire.AppendValue(stage, n.stage, v.Type, v.Data), at)))
	}
	limit := x.arg("limit")
	one, _ := limit.Integer()
	for _, name := range [...]string{"min", "max", "returnKey", "showRecordId", "noCursorTimeout", "singleBatch", "readOnce"} {
		if v := x.arg(name); (v.IsDocument() || v.True()) && (name != "singleBatch" || one != 1) {
			return nil, mongoerr.Errorf(mongoerr.InvalidPipelineOperator, "Option %s not supported in aggregation.", name)
		}
	}
	if collation := x.arg("collation"); !collation.Missing() {
		return stages, a.field(x, &wire.Element{Type: collation.Type, Key: []byte("collation"), Value: collation.Data})
	}
	return stages, nil
}

// arg returns an argument of the command, Missing if it is not there.
func (x *exec) arg(name string) query.Value {
	for i := range x.args {
		if string(x.args[i].Key) == name {
			return query.Of(x.args[i])
		}
	}
	return query.Value{}
}

// Collection implements pipeline.Source: what a stage reads of another collection, or of a view.
func (s source) Collection(db, coll string) [][]byte {
	docs, err := s.x.contentsLocked(db, coll)
	if err != nil {
		s.x.conflict = err
	}
	return docs
}

func (x *exec) contentsLocked(db, coll string) ([][]byte, error) {
	ns, stages, err := x.resolveLocked(db + "." + coll)
	if err != nil {
		return nil, err
	}
	c, err := x.lookupLocked(ns)
	if err != nil {
		return nil, err
	}
	var docs [][]byte
	c.scan(func(r *record) bool {
		docs = append(docs, r.doc)
		return true
	})
	if len(stages) == 0 {
		return docs, nil
	}
	p, err := pipeline.Parse(query.Array(stages).Data, pipeline.Options{DB: db, Coll: coll})
	if err != nil {
		return nil, err
	}
	vars, err := p.Vars(x.context())
	if err != nil {
		return nil, err
	}
	return p.Run(x.context(), vars, slices.Values(docs))
}

// checkView refuses a view that would stand on itself, or on too many others.
func (m *member) checkView(ns string, o *collectionOptions) error {
	views := make(map[string]*collectionOptions)
	for name, c := range m.collections {
		if c.isView() {
			views[name] = &c.def.options
		}
	}
	views[ns] = o
	if path := cycle(views, ns, ns); path != nil {
		slices.Reverse(path)
		return mongoerr.Errorf(mongoerr.GraphContainsCycle, "View cycle detected: %s => %s", ns, strings.Join(path, " => "))
	}
	for name := range views {
		if height(views, name) > maxViewDepth {
			return mongoerr.Errorf(mongoerr.ViewDepthLimitExceeded, "View depth limit exceeded; maximum depth is %d", maxViewDepth)
		}
	}
	return nil
}

// checkViewPipeline refuses stages of which no view can be made.
func (x *exec) checkViewPipeline(o *collectionOptions) error {
	options := pipeline.Options{DB: x.db, Coll: o.viewOn}
	if err := pipeline.Survey(o.pipeline, options); err != nil {
		return err
	}
	p, err := pipeline.Parse(o.pipeline, options)
	switch {
	case err == nil && p.Target() != nil:
		err = mongoerr.Errorf(mongoerr.OptionNotSupportedOnView, "The aggregation stage %s in location %d of the pipeline cannot be used in the view "+
			"definition of %s because it writes to disk", targetName(p.Target()), len(query.Elements(o.pipeline))-1, x.full)
	}
	if err != nil {
		return mongoerr.Because("Invalid pipeline for view "+x.full, err)
	}
	return nil
}

// otherView tells in what one of two definitions is another view than the other, or none.
func (x *exec) otherView(has, want *collectionOptions) error {
	there := "namespace '" + x.full + "' already exists, but "
	switch {
	case has.viewOn != "" && want.viewOn == "":
		return mongoerr.Errorf(mongoerr.NamespaceExists, "%sis a view", there)
	case has.viewOn == "" && want.viewOn != "":
		return mongoerr.Errorf(mongoerr.NamespaceExists, "%sis a collection rather than a view", there)
	case has.viewOn != want.viewOn:
		return mongoerr.Errorf(mongoerr.NamespaceExists, "%sis a view on '%s.%s' rather than '%s.%s'", there, x.db, has.viewOn, x.db, want.viewOn)
	case !equalDocuments(has.pipeline, want.pipeline):
		return mongoerr.Errorf(mongoerr.NamespaceExists, "%swith pipeline %s rather than %s", there, documentText(has.pipeline), documentText(want.pipeline))
	}
	return nil
}

// checkViewChange refuses a collMod that does not fit what it is of.
func (x *exec) checkViewChange(c *collection) error {
	found := 0
	for i := range x.args {
		name := string(x.args[i].Key)
		ofView := name == "viewOn" || name == "pipeline"
		switch {
		case ofView && !c.isView():
			return mongoerr.Errorf(mongoerr.InvalidOptions, "'%s' option only supported on a view", name)
		case !ofView && c.isView():
			return mongoerr.Errorf(mongoerr.InvalidOptions, "option not supported on a view: %s", name)
		case ofView:
			found++
		}
	}
	if found == 1 {
		return mongoerr.Errorf(mongoerr.InvalidOptions, "Must specify both 'viewOn' and 'pipeline' when modifying a view")
	}
	return nil
}

// cycle returns the path from one view to another, nil if there is none.
func cycle(views map[string]*collectionOptions, from, to string) []string {
	if views[from] == nil {
		return nil
	}
	for _, next := range views[from].reads(from) {
		if next == to {
			return []string{from, to}
		}
		if path := cycle(views, next, to); path != nil {
			return append([]string{from}, path...)
		}
	}
	return nil
}

// height returns how many views stand on one another from one on.
func height(views map[string]*collectionOptions, ns string) int {
	if views[ns] == nil {
		return 0
	}
	most := 0
	for _, next := range views[ns].reads(ns) {
		most = max(most, height(views, next))
	}
	return most + 1
}

// reads returns the namespaces that a view reads.
func (o *collectionOptions) reads(ns string) []string {
	db, _, _ := strings.Cut(ns, ".")
	list := []string{db + "." + o.viewOn}
	for _, coll := range joined(o.pipeline) {
		list = append(list, db+"."+coll)
	}
	return list
}

// joined returns the collections that stages read besides their input.
func joined(doc []byte) []string {
	var list []string
	it := wire.Elements(doc)
	for it.Next() {
		v := query.Of(it.Element)
		coll := query.Value{}
		switch string(it.Key) {
		case "$lookup", "$graphLookup":
			coll = query.Lookup(v.Data, "from")
		case "$unionWith":
			if coll = v; v.IsDocument() {
				coll = query.Lookup(v.Data, "coll")
			}
		}
		if coll.Type == bson.TypeString {
			list = append(list, string(coll.Text()))
		}
		if v.IsDocument() || v.IsArray() {
			list = append(list, joined(v.Data)...)
		}
	}
	return list
}
