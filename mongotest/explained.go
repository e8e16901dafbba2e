package mongotest

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/explain"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/planfilter"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// explained is the search of a command whose plan is asked for.
type explained struct {
	explain.Query
	criteria
}

// explained reads the command as its execution would.
func (x *call) explained() (*explained, error) {
	e := &explained{}
	e.Filter = query.EmptyDocument
	var err error
	switch x.command.name {
	case "find":
		err = e.ofFind(x)
	case "count":
		e.Kind = explain.Count
		err = e.ofCount(x)
	case "distinct":
		e.Kind = explain.Distinct
		err = e.ofDistinct(x)
	case "update":
		err = e.ofUpdate(x)
	case "delete":
		err = e.ofDelete(x)
	default:
		err = e.ofFindAndModify(x)
	}
	return e, err
}

func (e *explained) ofFind(x *call) error {
	var s search
	var projection query.Value
	for i := range x.command.args {
		var err error
		switch a := &x.command.args[i]; string(a.Key) {
		case "projection":
			projection = query.Of(*a)
		case "sort":
			e.Sort = a.Value
			err = s.parseSort(a.Value)
		case "let":
			err = x.letField("find", a)
		default:
			err = s.field(a, &e.Filter)
		}
		if err != nil {
			return err
		}
	}
	if err := s.compileFind(x, e.Filter, projection); err != nil {
		return err
	}
	if s.projection != nil && len(projection.Data) > len(query.EmptyDocument) {
		e.Projection = projection.Data
	}
	s.hint.Sizes = s.sizes(!x.arg("batchSize").Missing())
	if err := s.hint.CheckBounds(); err != nil {
		return err
	}
	e.criteria, e.Skip, e.Limit, e.ReturnKey, e.RecordID = s.criteria, s.skip, s.limit, s.returnKey, s.showRecordID
	return nil
}

func (e *explained) ofCount(x *call) error {
	var s search
	for i := range x.command.args {
		if err := s.countField(&x.command.args[i], &e.Filter); err != nil {
			return err
		}
	}
	err := s.compile(x, e.Filter)
	e.criteria, e.Skip, e.Limit = s.criteria, s.skip, s.limit
	return err
}

func (e *explained) ofDistinct(x *call) error {
	var s search
	var key query.Value
	for i := range x.command.args {
		if err := s.distinctField(&x.command.args[i], &key, &e.Filter); err != nil {
			return err
		}
	}
	err := s.compile(x, e.Filter)
	e.criteria, e.Key = s.criteria, string(key.Text())
	return err
}

// statement returns the only statement of a write command.
func (x *call) statement(field string) ([]byte, error) {
	statements, err := x.batchDocuments(field)
	if err == nil && len(statements) != 1 {
		err = mongoerr.Errorf(mongoerr.InvalidLength, "explained write batches must be of size 1")
	}
	if err != nil {
		return nil, err
	}
	return statements[0], nil
}

func (e *explained) ofUpdate(x *call) error {
	if let := x.arg("let"); let.IsDocument() {
		if err := x.letField("update", &wire.Element{Type: let.Type, Value: let.Data}); err != nil {
			return err
		}
	}
	doc, err := x.statement("updates")
	if err != nil {
		return err
	}
	var s updateStatement
	if err := s.parse(x, doc); err != nil {
		return err
	}
	filter, sort := query.Lookup(doc, "q"), query.Lookup(doc, "sort")
	e.Kind, e.Filter, e.Sort = explain.Update, filter.Data, sort.Data
	e.criteria, e.Multi, e.Upsert = s.criteria, s.multi, s.upsert
	if sort.IsDocument() {
		e.Limit = 1
	}
	return s.err
}

func (e *explained) ofDelete(x *call) error {
	if let := x.arg("let"); let.IsDocument() {
		if err := x.letField("delete", &wire.Element{Type: let.Type, Value: let.Data}); err != nil {
			return err
		}
	}
	doc, err := x.statement("deletes")
	if err != nil {
		return err
	}
	var s deleteStatement
	if err := s.parse(x, doc); err != nil {
		return err
	}
	filter := query.Lookup(doc, "q")
	e.Kind, e.Filter, e.criteria, e.Multi = explain.Delete, filter.Data, s.criteria, !s.one
	return s.err
}

func (e *explained) ofFindAndModify(x *call) error {
	f, err := x.modification()
	if err != nil {
		return err
	}
	e.Kind, e.Returns, e.After = explain.Update, true, f.after
	if f.remove {
		e.Kind = explain.Delete
	}
	if filter := x.arg("query"); filter.IsDocument() {
		e.Filter = filter.Data
	}
	if shown := x.arg("fields"); shown.IsDocument() && f.projection != nil {
		e.Projection = shown.Data
	}
	sort := x.arg("sort")
	if f.sort != nil {
		e.Limit = 1
	}
	e.Sort, e.criteria, e.Upsert = sort.Data, f.criteria, f.upsert
	return nil
}

// lookAt settles what the search looks at: the collection as the command would see it, and its indexes.
func (x *call) lookAt(e *explained) error {
	view, err := x.explainedView(e)
	if err != nil {
		return err
	}
	view.Scan(func(r *store.Record) bool {
		e.Records = append(e.Records, r)
		return true
	})
	if !query.Lookup(e.Sort, "$natural").Missing() {
		e.Sort = nil
	}
	e.NS, e.Exists, e.Express = x.command.full, view.Exists(), x.client.set.Version.AtLeast(8, 0)
	e.Natural, e.Min, e.Max, e.Collated = e.hint.Natural, e.hint.Min, e.hint.Max, e.collation != nil
	if e.Permits != nil {
		e.Natural = 0
	}
	e.Collation = e.collation.Shown()
	e.Match, e.Compare = x.matchOf(e), x.comparer(e)
	return nil
}

// explainedView returns a view of the collection that does not change.
func (x *call) explainedView(e *explained) (view store.View, err error) {
	if err := x.reading(); err != nil {
		return view, err
	}
	defer x.client.set.Unlock()
	c, err := x.collectionLocked(x.command.full)
	if x.result.onView {
		return view, fields.Unsupported("explain", "of a view")
	}
	if err != nil {
		return view, err
	}
	if c == nil && e.filter.Text() != nil && e.Kind != explain.Count {
		return view, store.NoTextIndex(x.command.full, true)
	}
	e.hint.Collation = e.collation
	if e.Index, err = e.hint.Resolve(x.command.full, c); err != nil || c == nil {
		return view, err
	}
	if e.searches() {
		found, err := c.Def.Searching(x.command.full, &e.filter, &e.hint, e.Index)
		switch {
		case err != nil:
		case found.Flaw != nil:
			err = fields.Unsupported("explain", "of a $near whose point is outside of its index")
		case found.Prefixed() || !explain.Plain(e.Filter):
			err = fields.Unsupported("explain", "of a $text in an $or or with a prefix")
		}
		if err != nil {
			return view, err
		}
		e.Search = &explain.Search{Search: found, Distance: x.distanceOf(e)}
	}
	e.Indexes = c.Def.Indexes
	x.applyIndexFilterLocked(e, c)
	return c.Frozen(), nil
}

// applyIndexFilterLocked finds the collection's index filter for the query. Where there is one a hint is ignored.
func (x *call) applyIndexFilterLocked(e *explained, c *store.Collection) {
	q := &planfilter.Query{Filter: e.Filter, Sort: e.Sort, Projection: e.Projection, Collation: e.collation.Shown()}
	if f := x.client.member.planFilters[c.Def.UUID].Of(q); f != nil {
		e.Permits, e.Index = f.Permits, nil
	}
}

// matchOf compiles filters as those of the command.
func (x *call) matchOf(e *explained) func(filter []byte) (func(doc []byte) (bool, error), error) {
	return func(filter []byte) (func(doc []byte) (bool, error), error) {
		f, m, err := x.filterOf(e, filter)
		return func(doc []byte) (bool, error) { return f.MatchWith(doc, m) }, err
	}
}

// distanceOf compiles a $near as that of the command.
func (x *call) distanceOf(e *explained) func(filter []byte) (func(doc []byte) (query.Value, bool, error), error) {
	return func(filter []byte) (func(doc []byte) (query.Value, bool, error), error) {
		f, m, err := x.filterOf(e, filter)
		return func(doc []byte) (query.Value, bool, error) {
			ok, err := f.MatchWith(doc, m)
			return m.Found.Distance, ok, err
		}, err
	}
}

func (x *call) filterOf(e *explained, filter []byte) (f *query.Filter, m *query.Matching, err error) {
	hooks, err := x.hooks()
	f = &query.Filter{}
	if err == nil {
		err = f.ParseCollated(filter, hooks, e.rule())
	}
	return f, &query.Matching{Vars: e.vars, Work: x.work()}, err
}

// comparer compiles the command's sort.
func (x *call) comparer(e *explained) func(sort []byte) (func(a, b []byte) int, error) {
	return func([]byte) (func(a, b []byte) int, error) { return e.order().Compare, nil }
}
