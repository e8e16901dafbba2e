package command

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
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
	call.Criteria
}

// newExplained reads the command, or its statement, as its execution would.
func newExplained(x *call.Call, statement []byte) (*explained, error) {
	e := &explained{}
	e.Query.Filter = query.EmptyDocument
	var err error
	switch x.Command.Name {
	case "find":
		err = e.ofFind(x)
	case "count":
		err = e.ofCount(x)
	case "distinct":
		err = e.ofDistinct(x)
	case "update":
		err = e.ofUpdate(x, statement)
	case "delete":
		err = e.ofDelete(x, statement)
	default:
		err = e.ofFindAndModify(x)
	}
	return e, err
}

func (e *explained) ofFind(x *call.Call) error {
	var s search
	var projection query.Value
	for i := range x.Command.Args {
		var err error
		switch a := &x.Command.Args[i]; string(a.Key) {
		case "projection":
			projection = query.Of(*a)
		case "let":
			err = x.LetField("find", a)
		default:
			err = s.field(a, &e.Query.Filter)
		}
		if err != nil {
			return err
		}
	}
	if err := s.compileFind(x, e.Query.Filter, projection); err != nil {
		return err
	}
	s.Hint.Sizes = s.sizes(!x.Arg("batchSize").Missing())
	if err := s.Hint.CheckBounds(); err != nil {
		return err
	}
	*e = *s.toFind(x, e.Query.Filter)
	return nil
}

// toFind returns the search of a find that has been compiled.
func (s *search) toFind(x *call.Call, filter []byte) *explained {
	e := s.withFilter(explain.Find, filter)
	if shown := x.Arg("projection"); s.projection != nil && len(shown.Data) > len(query.EmptyDocument) {
		e.Projection = shown.Data
	}
	sort := x.Arg("sort")
	e.Query.Sort, e.ReturnKey, e.RecordID = sort.Data, s.returnKey, s.showRecordID
	return e
}

func (s *search) withFilter(k explain.Kind, filter []byte) *explained {
	return &explained{Criteria: s.Criteria, Query: explain.Query{Kind: k, Filter: filter, Skip: s.skip, Limit: s.limit}}
}

func (e *explained) ofCount(x *call.Call) error {
	var s search
	for i := range x.Command.Args {
		if err := s.countField(&x.Command.Args[i], &e.Query.Filter); err != nil {
			return err
		}
	}
	err := s.Compile(x, e.Query.Filter)
	*e = *s.withFilter(explain.Count, e.Query.Filter)
	return err
}

func (e *explained) ofDistinct(x *call.Call) error {
	var s search
	var key query.Value
	for i := range x.Command.Args {
		if err := s.distinctField(&x.Command.Args[i], &key, &e.Query.Filter); err != nil {
			return err
		}
	}
	err := s.Compile(x, e.Query.Filter)
	*e = *s.toDistinct(key, e.Query.Filter)
	return err
}

func (s *search) toDistinct(key query.Value, filter []byte) *explained {
	e := s.withFilter(explain.Distinct, filter)
	e.Key = string(key.Text())
	return e
}

// onlyStatement returns the only statement of a write command, nil if the command has none.
func onlyStatement(x *call.Call) ([]byte, error) {
	field := x.Command.Spec.Statements
	if field == "" {
		return nil, nil
	}
	statements, err := x.BatchDocuments(field)
	if err == nil && len(statements) != 1 {
		err = mongoerr.Errorf(mongoerr.InvalidLength, "explained write batches must be of size 1")
	}
	if err != nil {
		return nil, err
	}
	return statements[0], nil
}

func (e *explained) ofUpdate(x *call.Call, doc []byte) error {
	if let := x.Arg("let"); let.IsDocument() {
		if err := x.LetField("update", &wire.Element{Type: let.Type, Value: let.Data}); err != nil {
			return err
		}
	}
	var s updateStatement
	if err := s.parse(x, doc); err != nil {
		return err
	}
	*e = *s.explained()
	return s.err
}

// explained returns the search of a statement.
func (s *updateStatement) explained() *explained {
	e := &explained{Criteria: s.Criteria}
	e.Kind, e.Query.Filter, e.Query.Sort, e.Multi, e.Upsert = explain.Update, s.parts.filter, s.parts.sort, s.multi, s.upsert
	if s.parts.sort != nil {
		e.Limit = 1
	}
	return e
}

func (e *explained) ofDelete(x *call.Call, doc []byte) error {
	if let := x.Arg("let"); let.IsDocument() {
		if err := x.LetField("delete", &wire.Element{Type: let.Type, Value: let.Data}); err != nil {
			return err
		}
	}
	var s deleteStatement
	if err := s.parse(x, doc); err != nil {
		return err
	}
	*e = *s.explained()
	return s.err
}

// explained returns the search of a statement.
func (s *deleteStatement) explained() *explained {
	e := &explained{Criteria: s.Criteria}
	e.Kind, e.Query.Filter, e.Multi = explain.Delete, s.filter, !s.one
	return e
}

func (e *explained) ofFindAndModify(x *call.Call) error {
	f, err := parseModification(x)
	if err != nil {
		return err
	}
	*e = *f.explained(x)
	return nil
}

// explained returns the search of a findAndModify.
func (f *modification) explained(x *call.Call) *explained {
	e := &explained{Criteria: f.Criteria}
	e.Kind, e.Returns, e.After, e.Upsert, e.Query.Filter = explain.Update, true, f.after, f.upsert, query.EmptyDocument
	if f.remove {
		e.Kind = explain.Delete
	}
	if filter := x.Arg("query"); filter.IsDocument() {
		e.Query.Filter = filter.Data
	}
	if shown := x.Arg("fields"); shown.IsDocument() && f.projection != nil {
		e.Projection = shown.Data
	}
	sort := x.Arg("sort")
	if e.Query.Sort = sort.Data; f.Sort != nil {
		e.Limit = 1
	}
	return e
}

// lookAt settles what the search looks at: the collection as the command would see it, and its indexes.
func lookAt(x *call.Call, e *explained) error {
	view, err := explainedView(x, e)
	if err != nil {
		return err
	}
	view.Scan(func(r *store.Record) bool {
		e.Records = append(e.Records, r)
		return true
	})
	return nil
}

// explainedView returns a view of the collection that does not change.
func explainedView(x *call.Call, e *explained) (store.View, error) {
	return call.ReadValue(x, func(x call.Locked) (store.View, error) { return plannedView(x, e) })
}

func plannedView(x call.Locked, e *explained) (view store.View, err error) {
	c, err := x.Collection(x.Command.Full)
	if x.Result.OnView {
		return view, fields.Unsupported("explain", "of a view")
	}
	if err != nil {
		return view, err
	}
	if c == nil && e.Criteria.Filter.Text() != nil && e.Kind != explain.Count {
		return view, store.NoTextIndex(x.Command.Full, true)
	}
	if err := settleQuery(x, e, x.Command.Full, c, func() *call.Call { return x.Call }); err != nil {
		return view, err
	}
	switch s := e.Search; {
	case s == nil:
	case s.Flaw != nil:
		return view, fields.Unsupported("explain", "of a $near whose point is outside of its index")
	case s.Prefixed() || !explain.Plain(e.Query.Filter):
		return view, fields.Unsupported("explain", "of a $text in an $or or with a prefix")
	}
	return c.Frozen(), nil
}

// settleQuery settles all of a query but the documents. by returns the call that compiles and evaluates what the plan needs of it.
func settleQuery(x call.Locked, e *explained, ns string, c *store.Collection, by func() *call.Call) (err error) {
	e.Hint.Collation = e.Criteria.Collation
	if e.Index, err = e.Hint.Resolve(ns, c); err != nil {
		return err
	}
	if c != nil {
		if err := settleIndexes(x, e, ns, c, by); err != nil {
			return err
		}
	}
	if e.Query.Sort != nil && !query.Lookup(e.Query.Sort, "$natural").Missing() {
		e.Query.Sort = nil
	}
	e.NS, e.Exists, e.Express = ns, c != nil, x.Client.Set.Version.AtLeast(8, 0)
	e.Query.Natural, e.Min, e.Max, e.Collated = e.Hint.Natural, e.Hint.Min, e.Hint.Max, e.Criteria.Collation != nil
	if e.Permits != nil {
		e.Query.Natural = 0
	}
	e.Collation = e.Criteria.Collation.Shown()
	e.Match, e.Compare = matchOf(by, e), comparer(e)
	return nil
}

func settleIndexes(x call.Locked, e *explained, ns string, c *store.Collection, by func() *call.Call) error {
	if e.Searches() {
		found, err := c.Def.Searching(ns, &e.Criteria.Filter, &e.Hint, e.Index)
		if err != nil {
			return err
		}
		e.Search = &explain.Search{Search: found, Distance: distanceOf(by, e)}
	}
	e.Indexes, e.Arrays = c.Def.Indexes, c.Arrays()
	applyIndexFilter(x, e, c)
	return nil
}

// applyIndexFilter finds the collection's index filter for the query. Where there is one a hint is ignored.
func applyIndexFilter(x call.Locked, e *explained, c *store.Collection) {
	list := x.Client.Member.PlanFilters[c.Def.UUID]
	if len(list) == 0 {
		return
	}
	q := &planfilter.Query{Filter: e.Query.Filter, Sort: e.Query.Sort, Projection: e.Projection, Collation: e.Criteria.Collation.Shown()}
	if f := list.Of(q); f != nil {
		e.Permits, e.Index = f.Permits, nil
	}
}

// matchOf compiles filters as those of the command.
func matchOf(by func() *call.Call, e *explained) func(filter []byte) (func(doc []byte) (bool, error), error) {
	return func(filter []byte) (func(doc []byte) (bool, error), error) {
		f, m, err := filterOf(by(), e, filter)
		return func(doc []byte) (bool, error) { return f.MatchWith(doc, m) }, err
	}
}

// distanceOf compiles a $near as that of the command.
func distanceOf(by func() *call.Call, e *explained) func(filter []byte) (func(doc []byte) (query.Value, bool, error), error) {
	return func(filter []byte) (func(doc []byte) (query.Value, bool, error), error) {
		f, m, err := filterOf(by(), e, filter)
		return func(doc []byte) (query.Value, bool, error) {
			ok, err := f.MatchWith(doc, m)
			return m.Found.Distance, ok, err
		}, err
	}
}

func filterOf(x *call.Call, e *explained, filter []byte) (f *query.Filter, m *query.Matching, err error) {
	hooks, err := x.Hooks()
	f = &query.Filter{}
	if err == nil {
		err = f.ParseCollated(filter, hooks, e.Rule())
	}
	return f, &query.Matching{Vars: e.Vars, Work: x.Work()}, err
}

// comparer compiles the command's sort.
func comparer(e *explained) func(sort []byte) (func(a, b []byte) int, error) {
	return func([]byte) (func(a, b []byte) int, error) { return e.Order().Compare, nil }
}
