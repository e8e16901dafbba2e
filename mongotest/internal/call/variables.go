package call

import (
	"cmp"
	"errors"
	"slices"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/pipeline"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// Variables are what the expressions of a command can use besides the document: the variables of its let, and the time at which it
// began. Values is set when the command has a let, or its first expression is compiled.
type Variables struct {
	Raw    []byte // the let as it was sent, nil for none
	let    *pipeline.Let
	hooks  query.Hooks // they compile expressions that may use the let's variables
	Values any
	err    error // of the let; Values is not set then
}

// noLet returns the empty let, for a command that has none.
func noLet(x *Call) *pipeline.Let {
	let, _ := pipeline.ParseLet(nil, x.Client.Set.Version) // an empty let has no error
	return let
}

// LetField reads a command's let.
func (x *Call) LetField(command string, e *wire.Element) error {
	doc := e.Document()
	if !x.Client.Set.Version.AtLeast(5, 0) {
		return unknownLet(command)
	}
	x.Result.Vars.Raw = slices.Clone(doc) // a cursor may keep its values
	return query.CheckDocument(doc)
}

// unknownLet refuses a let as servers did before 5.0.
func unknownLet(command string) error {
	switch command {
	case "find":
		return mongoerr.Errorf(mongoerr.FailedToParse, "Failed to parse: Unrecognized field 'let'.")
	case "aggregate":
		return mongoerr.Errorf(mongoerr.FailedToParse, "unrecognized field 'let'")
	case "findAndModify":
		return mongoerr.Errorf(mongoerr.UnknownField, "BSON field 'let' is an unknown field.")
	}
	return fields.Unknown(command, "let")
}

// Hooks returns what compiles the command's expressions and scripts, or why its let cannot be.
func (x *Call) Hooks() (query.Hooks, error) {
	v := &x.Result.Vars
	switch {
	case v.Raw == nil:
		return x.Client.Language, nil
	case v.let != nil || v.err != nil:
		return v.hooks, v.err
	}
	if v.let, v.err = pipeline.ParseLet(v.Raw, x.Client.Set.Version); v.err != nil {
		return v.hooks, v.err
	}
	v.hooks = v.let.Hooks()
	v.Values, v.err = v.let.Vars(x.Context())
	return v.hooks, v.err
}

// PlainHooks compile expressions of commands without a let, and note that there are some.
func (x *Call) PlainHooks() query.Hooks {
	hooks := noLet(x).Hooks()
	return query.Hooks{
		Expr: func(v query.Value, c query.Collation) (query.Expr, error) {
			x.Result.Vars.begin(x)
			return hooks.Expr(v, c)
		},
		Pipeline: func(v query.Value, c query.Collation) (query.Pipeline, error) {
			x.Result.Vars.begin(x)
			return hooks.Pipeline(v, c)
		},
		Where: func(v query.Value) (query.Expr, error) {
			x.Result.Vars.begin(x)
			return hooks.Where(v)
		},
		Searches: hooks.Searches,
	}
}

func (v *Variables) begin(x *Call) {
	if v.Values == nil {
		context := x.Context()
		context.Bare = x.Command.Spec != nil && x.Command.Spec.Bare
		v.Values, v.err = noLet(x).Vars(context)
	}
}

// Constants returns what compiles an update that has constants of its own, and their values with those of the let.
func (x *Call) Constants(doc []byte) (query.Hooks, any, error) {
	let := x.Result.Vars.let
	if let == nil {
		let = noLet(x)
	}
	let = let.With(slices.Clone(doc))
	values, err := let.Vars(x.Context())
	return let.Hooks(), values, err
}

// Criteria say which documents a command or a statement is about.
type Criteria struct {
	Filter   query.Filter
	Hint     store.Hint
	Sort     *query.Sort    // nil for none
	Natural  int64          // the direction of $natural in the sort, 1 or -1; 0 for a sort without it
	Flaw     error          // the error of the collation
	Vars     any            // the values of the variables that the filter and the rest of the statement use
	InOrder  bool           // the collection is read in the order of the sort
	verdicts query.Verdicts // whether a document matches, for those of which it is known; nil if it is not kept
	many     *ManyWrites    // what a search without the set's mutex found; nil before such a search
	Collating
}

// Compile compiles the filter.
func (c *Criteria) Compile(x *Call, filter []byte) error {
	if c.Flaw != nil {
		return c.Flaw
	}
	c.Inherit(x, x.Command.Full)
	hooks, err := x.Hooks()
	if err != nil {
		return err
	}
	err = c.compileWith(filter, hooks)
	c.Vars = x.Result.Vars.Values
	return err
}

func (c *Criteria) compileWith(filter []byte, hooks query.Hooks) error {
	if err := c.Filter.ParseCollated(filter, hooks, c.Rule()); err != nil {
		return err
	}
	if err := c.checkSearch(); err != nil {
		return err
	}
	return c.CheckNatural()
}

// checkSearch refuses what does not go together with $near and $text.
func (c *Criteria) checkSearch() error {
	near, text := c.Filter.Near() != nil, c.Filter.Text() != nil
	for _, name := range c.Sort.Metas() {
		if err := c.Filter.MetaFlaw(name); err != nil {
			return err
		}
	}
	switch {
	case near && c.Natural != 0:
		return mongoerr.Errorf(mongoerr.BadValue, "geoNear expression not allowed with $natural sort order")
	case near && c.Hint.Natural != 0:
		return mongoerr.Errorf(mongoerr.BadValue, "geoNear expression not allowed with $natural hint")
	case text && c.Natural != 0:
		return mongoerr.Errorf(mongoerr.BadValue, "text expression not allowed with $natural sort order")
	case text && (c.Hint.Named || c.Hint.Pattern != nil || c.Hint.Natural != 0):
		return mongoerr.Errorf(mongoerr.BadValue, "text and hint not allowed in same query")
	}
	return nil
}

// Searches reports whether the documents are searched by distance or by words.
func (c *Criteria) Searches() bool { return c.Filter.Near() != nil || c.Filter.Text() != nil }

// CompileForUpdate compiles the filter of an update, which may be an upsert.
func (c *Criteria) CompileForUpdate(filter []byte, hooks query.Hooks, upsert bool) error {
	if upsert {
		hooks.Expr = noUpsertExpr
	}
	return c.compileWith(filter, hooks)
}

// ParseUpdate compiles an update of what the criteria find.
func (c *Criteria) ParseUpdate(update, arrayFilters query.Value, hooks query.Hooks) (*query.Update, error) {
	hooks.Collation = c.Rule()
	return query.ParseUpdate(update, arrayFilters, hooks)
}

// ParseSort reads a sort, and the direction of its $natural.
func (c *Criteria) ParseSort(doc []byte) (err error) {
	if c.Sort, err = query.ParseSort(doc); err == nil {
		n := query.Lookup(doc, "$natural")
		c.Natural, _ = n.Integer()
	}
	return err
}

// readsByID reports whether a collection is read by its index of _id because it is sorted by that.
func (c *Criteria) readsByID(def *store.Definition) bool {
	return c.Sort.ByID() != 0 && c.Collation == def.Options.Collation && !c.Hint.Given() && def.HasIDIndex() && len(def.Indexes) == 1
}

// CheckNatural makes a sort by $natural a hint. It refuses such a sort beside another hint.
func (c *Criteria) CheckNatural() error {
	switch {
	case c.Natural == 0:
		return nil
	case c.Hint.Named || c.Hint.Pattern != nil:
		return mongoerr.Errorf(mongoerr.BadValue, "index hint not allowed with $natural sort order")
	case c.Hint.Natural != 0 && c.Hint.Natural != c.Natural:
		return mongoerr.Errorf(mongoerr.BadValue, "$natural hint must be in the same direction as $natural sort order")
	}
	c.Hint.Natural = c.Natural
	return nil
}

// Scan is the documents that a search looks at, and the index by which it finds them.
type Scan struct {
	View  store.View
	Index *store.Index // the one that the hint names, nil for none
	store.Search
}

// Scan returns what a search of the command's collection looks at. whole, which is Collection.Now or
// Collection.Frozen, returns the view of a collection that is read as a whole.
func (x Locked) Scan(q *Criteria, whole func(*store.Collection) store.View) (p Scan, err error) {
	c, err := x.Collection(x.Command.Full)
	if c == nil && (err == nil || x.Result.OnView) && q.Filter.Text() != nil && x.Command.Name != "count" {
		x.Result.OnView = false
		return p, store.NoTextIndex(x.Command.Full, true)
	}
	if err != nil || c == nil {
		return p, cmp.Or(err, q.Filter.TextFlaw())
	}
	q.Hint.Collation = q.Collation
	if p.Index, err = q.Hint.Resolve(x.Command.Full, c); err != nil {
		return p, err
	}
	if q.Searches() {
		if p.Search, err = c.Def.Searching(x.Command.Full, &q.Filter, &q.Hint, p.Index); err != nil {
			return p, err
		}
		p.Index = nil
	}
	if q.InOrder = q.readsByID(c.Def); !q.InOrder && p.Index == nil && q.Hint.Natural == 0 {
		if one, ok := c.ByID(&q.Filter); ok {
			p.View = one
			return p, nil
		}
	}
	p.View = whole(c)
	return p, nil
}

// Find calls visit with every document of a scan that matches, in the hint's order, until visit returns false. While visit runs,
// Result.Match has the element by which the document matched.
func (x *Call) Find(command string, q *Criteria, p Scan, visit func(r *store.Record) bool) error {
	x.Result.Match = query.Matching{Vars: q.Vars, Work: x.Work(), Verdicts: q.verdicts, Text: p.Text}
	err := p.Flaw
	switch {
	case err != nil:
	case q.InOrder:
		err = p.View.FindSortedByID(q.Sort.ByID(), &q.Filter, &x.Result.Match, visit)
	case q.Searches():
		err = findBySearch(x, q, p, visit)
	default:
		err = p.View.FindBy(p.Index, &q.Hint, &q.Filter, &x.Result.Match, visit)
	}
	if err != nil {
		return x.Executing(command, err)
	}
	return nil
}

// EachMatch is Find in the command's collection as the command sees it.
func (x Locked) EachMatch(command string, q *Criteria, visit func(r *store.Record) bool) error {
	return findOr(x, command, q, visit, func(frozen Scan) {
		if q.verdicts == nil {
			q.verdicts = make(query.Verdicts)
		}
		_ = x.Find(command, q, frozen, visit) // the next attempt has the same error, and returns it
	})
}

// findOr does what EachMatch does. If that takes long, slowly goes on without the mutex, with the collection as it was.
func findOr(x Locked, command string, q *Criteria, visit func(r *store.Record) bool, slowly func(frozen Scan)) error {
	p, err := x.Scan(q, (*store.Collection).Now)
	if err != nil {
		return err
	}
	if err = x.Find(command, q, p, visit); x.Evaluation.Paused() {
		frozen, _ := x.Scan(q, (*store.Collection).Frozen)
		noteSlow(x.Call, err, func() { slowly(frozen) })
	}
	return err
}

// Order is the order that is asked for, nil for none.
func (c *Criteria) Order() *query.Sort { return c.Sort.Collated(c.Rule()) }

// First returns the first match in the order that is asked for.
func (x Locked) First(command string, q *Criteria) (Found, error) {
	var best Found
	var sorted []byte // the best one, with what the search found out
	var unsortable error
	order := q.Order()
	if order != nil {
		q.Hint.Sizes = " limit=1"
	}
	err := x.EachMatch(command, q, func(r *store.Record) bool {
		if order != nil {
			if unsortable = order.Check(r.Doc); unsortable != nil {
				return false
			}
		}
		doc := query.WithMeta(r.Doc, x.Result.Match.Found)
		if best.Doc == nil || order.Compare(doc, sorted) < 0 {
			best, sorted = Found{r.Key, r.Doc, x.Result.Match}, doc
		}
		return order != nil && !q.InOrder
	})
	if err == nil && unsortable != nil {
		err = x.Executing(command, unsortable)
	}
	return best, err
}

// Executing marks an error that comes from a document, not from the command, as the real server does.
func (x *Call) Executing(command string, err error) error {
	if ended := x.Evaluation.Ended; x.Evaluation.Paused() || errors.Is(ended, ErrHangUp) {
		return ended
	}
	during := "Plan executor error during " + command
	switch command {
	case "find":
		during = "Executor error during find command: " + x.Command.Full
	case "getMore":
		during = "Executor error during getMore"
	case "count", "distinct", "aggregate":
		during = "Executor error during " + command + " command on namespace: " + x.Command.Full
	}
	e := *mongoerr.From(err)
	e.Message = during + " :: caused by :: " + e.Message
	return &e
}

// Matcher is a compiled filter of documents that are in no collection.
type Matcher struct {
	filter query.Filter
	match  query.Matching
}

// Matcher compiles a filter.
func (x *Call) Matcher(doc []byte) (*Matcher, error) {
	m := &Matcher{}
	hooks := x.Client.Language
	hooks.Refused = pipeline.NotInMatch
	err := m.filter.ParseWith(doc, hooks)
	m.match.Vars = x.Result.Vars.Values
	return m, err
}

// Matches reports whether a document matches.
func (m *Matcher) Matches(doc []byte) (bool, error) { return m.filter.MatchWith(doc, &m.match) }

// noUpsertExpr refuses an $expr in the filter of an upsert.
func noUpsertExpr(query.Value, query.Collation) (query.Expr, error) {
	return nil, mongoerr.Errorf(mongoerr.QueryFeatureNotAllowed, "$expr is not allowed in the query predicate for an upsert")
}
