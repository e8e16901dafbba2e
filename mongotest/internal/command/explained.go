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
		e.Kind = explain.Count
		err = e.ofCount(x)
	case "distinct":
		e.Kind = explain.Distinct
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
		case "sort":
			e.Query.Sort = a.Value
			err = s.ParseSort(a.Value)
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
	if s.projection != nil && len(projection.Data) > len(query.EmptyDocument) {
		e.Projection = projection.Data
	}
	s.Hint.Sizes = s.sizes(!x.Arg("batchSize").Missing())
	if err := s.Hint.CheckBounds(); err != nil {
		return err
	}
	e.Criteria, e.Skip, e.Limit, e.ReturnKey, e.RecordID = s.Criteria, s.skip, s.limit, s.returnKey, s.showRecordID
	return nil
}

func (e *explained) ofCount(x *call.Call) error {
	var s search
	for i := range x.Command.Args {
		if err := s.countField(&x.Command.Args[i], &e.Query.Filter); err != nil {
			return err
		}
	}
	err := s.Compile(x, e.Query.Filter)
	e.Criteria, e.Skip, e.Limit = s.Criteria, s.skip, s.limit
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
	e.Criteria, e.Key = s.Criteria, string(key.Text())
	return err
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
	filter, sort := query.Lookup(doc, "q"), query.Lookup(doc, "sort")
	e.Kind, e.Query.Filter, e.Query.Sort = explain.Update, filter.Data, sort.Data
	e.Criteria, e.Multi, e.Upsert = s.Criteria, s.multi, s.upsert
	if sort.IsDocument() {
		e.Limit = 1
	}
	return s.err
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
	filter := query.Lookup(doc, "q")
	e.Kind, e.Query.Filter, e.Criteria, e.Multi = explain.Delete, filter.Data, s.Criteria, !s.one
	return s.err
}

func (e *explained) ofFindAndModify(x *call.Call) error {
	f, err := parseModification(x)
	if err != nil {
		return err
	}
	e.Kind, e.Returns, e.After = explain.Update, true, f.after
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
	if f.Sort != nil {
		e.Limit = 1
	}
	e.Query.Sort, e.Criteria, e.Upsert = sort.Data, f.Criteria, f.upsert
	return nil
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
	if !query.Lookup(e.Query.Sort, "$natural").Missing() {
		e.Query.Sort = nil
	}
	e.NS, e.Exists, e.Express = x.Command.Full, view.Exists(), x.Client.Set.Version.AtLeast(8, 0)
	e.Query.Natural, e.Min, e.Max, e.Collated = e.Hint.Natural, e.Hint.Min, e.Hint.Max, e.Criteria.Collation != nil
	if e.Permits != nil {
		e.Query.Natural = 0
	}
	e.Collation = e.Criteria.Collation.Shown()
	e.Match, e.Compare = matchOf(x, e), comparer(e)
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
	e.Hint.Collation = e.Criteria.Collation
	if e.Index, err = e.Hint.Resolve(x.Command.Full, c); err != nil || c == nil {
		return view, err
	}
	if e.Searches() {
		found, err := c.Def.Searching(x.Command.Full, &e.Criteria.Filter, &e.Hint, e.Index)
		switch {
		case err != nil:
		case found.Flaw != nil:
			err = fields.Unsupported("explain", "of a $near whose point is outside of its index")
		case found.Prefixed() || !explain.Plain(e.Query.Filter):
			err = fields.Unsupported("explain", "of a $text in an $or or with a prefix")
		}
		if err != nil {
			return view, err
		}
		e.Search = &explain.Search{Search: found, Distance: distanceOf(x.Call, e)}
	}
	e.Indexes, e.Arrays = c.Def.Indexes, c.Arrays()
	applyIndexFilter(x, e, c)
	return c.Frozen(), nil
}

// applyIndexFilter finds the collection's index filter for the query. Where there is one a hint is ignored.
func applyIndexFilter(x call.Locked, e *explained, c *store.Collection) {
	q := &planfilter.Query{Filter: e.Query.Filter, Sort: e.Query.Sort, Projection: e.Projection, Collation: e.Criteria.Collation.Shown()}
	if f := x.Client.Member.PlanFilters[c.Def.UUID].Of(q); f != nil {
		e.Permits, e.Index = f.Permits, nil
	}
}

// matchOf compiles filters as those of the command.
func matchOf(x *call.Call, e *explained) func(filter []byte) (func(doc []byte) (bool, error), error) {
	return func(filter []byte) (func(doc []byte) (bool, error), error) {
		f, m, err := filterOf(x, e, filter)
		return func(doc []byte) (bool, error) { return f.MatchWith(doc, m) }, err
	}
}

// distanceOf compiles a $near as that of the command.
func distanceOf(x *call.Call, e *explained) func(filter []byte) (func(doc []byte) (query.Value, bool, error), error) {
	return func(filter []byte) (func(doc []byte) (query.Value, bool, error), error) {
		f, m, err := filterOf(x, e, filter)
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
