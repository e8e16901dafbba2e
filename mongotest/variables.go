package mongotest

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

// variables are what the expressions of a command look at besides a document: its let, and the time at which it began. They
// have values as soon as there is an expression or a let.
type variables struct {
	raw    []byte // the let as it was sent, nil for none
	let    *pipeline.Let
	hooks  query.Hooks // that know the let
	values any
	err    error // why the let has no values
}

// noLet is the let of a command that has none.
func (x *call) noLet() *pipeline.Let {
	let, _ := pipeline.ParseLet(nil, x.client.set.Version) // nothing in it can be wrong
	return let
}

// letField reads a command's let.
func (x *call) letField(command string, e *wire.Element) error {
	doc := e.Document()
	if !x.client.set.Version.AtLeast(5, 0) {
		return unknownLet(command)
	}
	x.result.vars.raw = slices.Clone(doc) // a cursor may keep its values
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

// hooks returns what compiles the command's expressions and scripts, or why its let cannot be.
func (x *call) hooks() (query.Hooks, error) {
	v := &x.result.vars
	switch {
	case v.raw == nil:
		return x.client.language, nil
	case v.let != nil || v.err != nil:
		return v.hooks, v.err
	}
	if v.let, v.err = pipeline.ParseLet(v.raw, x.client.set.Version); v.err != nil {
		return v.hooks, v.err
	}
	v.hooks = v.let.Hooks()
	v.values, v.err = v.let.Vars(x.context())
	return v.hooks, v.err
}

// plainHooks compile expressions of commands without a let, and note that there are some.
func (x *call) plainHooks() query.Hooks {
	hooks := x.noLet().Hooks()
	return query.Hooks{
		Expr: func(v query.Value, c query.Collation) (query.Expr, error) {
			x.result.vars.begin(x)
			return hooks.Expr(v, c)
		},
		Pipeline: func(v query.Value, c query.Collation) (query.Pipeline, error) {
			x.result.vars.begin(x)
			return hooks.Pipeline(v, c)
		},
		Where: func(v query.Value) (query.Expr, error) {
			x.result.vars.begin(x)
			return hooks.Where(v)
		},
		Searches: hooks.Searches,
	}
}

func (v *variables) begin(x *call) {
	if v.values == nil {
		context := x.context()
		context.Bare = x.command.spec != nil && x.command.spec.bare
		v.values, v.err = x.noLet().Vars(context)
	}
}

// constants returns what compiles an update that has constants of its own, and their values with those of the let.
func (x *call) constants(doc []byte) (query.Hooks, any, error) {
	let := x.result.vars.let
	if let == nil {
		let = x.noLet()
	}
	let = let.With(slices.Clone(doc))
	values, err := let.Vars(x.context())
	return let.Hooks(), values, err
}

// criteria say which documents a command or a statement is about.
type criteria struct {
	filter   query.Filter
	hint     store.Hint
	sort     *query.Sort    // nil for none
	natural  int64          // what the sort says of the order in which documents are kept, 1 or -1; 0 for nothing
	flaw     error          // the error of the collation
	vars     any            // the values of the variables in the filter, and of what else the statement has
	inOrder  bool           // find finds the documents in the order of the sort
	verdicts query.Verdicts // what is known of documents, nil if that is not kept
	many     *manyWrites    // what was found without the set's mutex, nil before that
	collating
}

// compile compiles the filter.
func (c *criteria) compile(x *call, filter []byte) error {
	if c.flaw != nil {
		return c.flaw
	}
	c.inherit(x, x.command.full)
	hooks, err := x.hooks()
	if err != nil {
		return err
	}
	err = c.compileWith(filter, hooks)
	c.vars = x.result.vars.values
	return err
}

func (c *criteria) compileWith(filter []byte, hooks query.Hooks) error {
	if err := c.filter.ParseCollated(filter, hooks, c.rule()); err != nil {
		return err
	}
	if err := c.checkSearch(); err != nil {
		return err
	}
	return c.checkNatural()
}

// checkSearch refuses what does not go together with $near and $text.
func (c *criteria) checkSearch() error {
	near, text := c.filter.Near() != nil, c.filter.Text() != nil
	for _, name := range c.sort.Metas() {
		if err := c.filter.MetaFlaw(name); err != nil {
			return err
		}
	}
	switch {
	case near && c.natural != 0:
		return mongoerr.Errorf(mongoerr.BadValue, "geoNear expression not allowed with $natural sort order")
	case near && c.hint.Natural != 0:
		return mongoerr.Errorf(mongoerr.BadValue, "geoNear expression not allowed with $natural hint")
	case text && c.natural != 0:
		return mongoerr.Errorf(mongoerr.BadValue, "text expression not allowed with $natural sort order")
	case text && (c.hint.Named || c.hint.Pattern != nil || c.hint.Natural != 0):
		return mongoerr.Errorf(mongoerr.BadValue, "text and hint not allowed in same query")
	}
	return nil
}

// searches reports whether the documents are searched by distance or by words.
func (c *criteria) searches() bool { return c.filter.Near() != nil || c.filter.Text() != nil }

// compileForUpdate compiles the filter of an update, which may be an upsert.
func (c *criteria) compileForUpdate(filter []byte, hooks query.Hooks, upsert bool) error {
	if upsert {
		hooks.Expr = noUpsertExpr
	}
	return c.compileWith(filter, hooks)
}

// parseUpdate compiles an update of what the criteria find.
func (c *criteria) parseUpdate(update, arrayFilters query.Value, hooks query.Hooks) (*query.Update, error) {
	hooks.Collation = c.rule()
	return query.ParseUpdate(update, arrayFilters, hooks)
}

func (c *criteria) parseSort(doc []byte) (err error) {
	if c.sort, err = query.ParseSort(doc); err == nil {
		n := query.Lookup(doc, "$natural")
		c.natural, _ = n.Integer()
	}
	return err
}

// readsByID reports whether a collection is read by its index of _id because it is sorted by that.
func (c *criteria) readsByID(def *store.Definition) bool {
	return c.sort.ByID() != 0 && c.collation == def.Options.Collation && !c.hint.Given() && def.HasIDIndex() && len(def.Indexes) == 1
}

// checkNatural refuses a sort by the order in which documents are kept that does not go with the hint, and makes it one.
func (c *criteria) checkNatural() error {
	switch {
	case c.natural == 0:
		return nil
	case c.hint.Named || c.hint.Pattern != nil:
		return mongoerr.Errorf(mongoerr.BadValue, "index hint not allowed with $natural sort order")
	case c.hint.Natural != 0 && c.hint.Natural != c.natural:
		return mongoerr.Errorf(mongoerr.BadValue, "$natural hint must be in the same direction as $natural sort order")
	}
	c.hint.Natural = c.natural
	return nil
}

// scan is what a search looks at.
type scan struct {
	view  store.View
	index *store.Index // of the hint, nil for none
	store.Search
}

// scanLocked returns what a search of the command's collection looks at. whole decides for how long it may.
func (x *call) scanLocked(q *criteria, whole func(*store.Collection) store.View) (p scan, err error) {
	c, err := x.collectionLocked(x.command.full)
	if c == nil && (err == nil || x.result.onView) && q.filter.Text() != nil && x.command.name != "count" {
		x.result.onView = false
		return p, store.NoTextIndex(x.command.full, true)
	}
	if err != nil || c == nil {
		return p, cmp.Or(err, q.filter.TextFlaw())
	}
	q.hint.Collation = q.collation
	if p.index, err = q.hint.Resolve(x.command.full, c); err != nil {
		return p, err
	}
	if q.searches() {
		if p.Search, err = c.Def.Searching(x.command.full, &q.filter, &q.hint, p.index); err != nil {
			return p, err
		}
		p.index = nil
	}
	if q.inOrder = q.readsByID(c.Def); !q.inOrder && p.index == nil && q.hint.Natural == 0 {
		if one, ok := c.ByID(&q.filter); ok {
			p.view = one
			return p, nil
		}
	}
	p.view = whole(c)
	return p, nil
}

// find calls visit with every document of a scan that matches, in the hint's order, until it returns false. x.match has then
// the element by which the document matched.
func (x *call) find(command string, q *criteria, p scan, visit func(r *store.Record) bool) error {
	x.result.match = query.Matching{Vars: q.vars, Work: x.work(), Verdicts: q.verdicts, Text: p.Text}
	err := p.Flaw
	switch {
	case err != nil:
	case q.inOrder:
		err = p.view.FindSortedByID(q.sort.ByID(), &q.filter, &x.result.match, visit)
	case q.searches():
		err = x.findBySearch(q, p, visit)
	default:
		err = p.view.FindBy(p.index, &q.hint, &q.filter, &x.result.match, visit)
	}
	if err != nil {
		return x.executing(command, err)
	}
	return nil
}

// findLocked is find in the command's collection as the command sees it.
func (x *call) findLocked(command string, q *criteria, visit func(r *store.Record) bool) error {
	return x.findOrLocked(command, q, visit, func(frozen scan) {
		if q.verdicts == nil {
			q.verdicts = make(query.Verdicts)
		}
		_ = x.find(command, q, frozen, visit) // its error is that of the next attempt too
	})
}

// findOrLocked is findLocked that calls slowly without the mutex if it takes long, with the collection as it was.
func (x *call) findOrLocked(command string, q *criteria, visit func(r *store.Record) bool, slowly func(frozen scan)) error {
	p, err := x.scanLocked(q, (*store.Collection).Now)
	if err != nil {
		return err
	}
	if err = x.find(command, q, p, visit); x.evaluation.paused() {
		frozen, _ := x.scanLocked(q, (*store.Collection).Frozen)
		x.slowly(err, func() { slowly(frozen) })
	}
	return err
}

// order is the order that is asked for, nil for none.
func (c *criteria) order() *query.Sort { return c.sort.Collated(c.rule()) }

// firstLocked returns the first match in the order that is asked for.
func (x *call) firstLocked(command string, q *criteria) (found, error) {
	var best found
	var sorted []byte // the best one, with what the search found out
	var unsortable error
	order := q.order()
	if order != nil {
		q.hint.Sizes = " limit=1"
	}
	err := x.findLocked(command, q, func(r *store.Record) bool {
		if order != nil {
			if unsortable = order.Check(r.Doc); unsortable != nil {
				return false
			}
		}
		doc := query.WithMeta(r.Doc, x.result.match.Found)
		if best.doc == nil || order.Compare(doc, sorted) < 0 {
			best, sorted = found{r.Key, r.Doc, x.result.match}, doc
		}
		return order != nil && !q.inOrder
	})
	if err == nil && unsortable != nil {
		err = x.executing(command, unsortable)
	}
	return best, err
}

// executing marks an error that a document, not the command, gave rise to, as the real server does.
func (x *call) executing(command string, err error) error {
	if ended := x.evaluation.ended; x.evaluation.paused() || errors.Is(ended, errHangUp) {
		return ended
	}
	during := "Plan executor error during " + command
	switch command {
	case "find":
		during = "Executor error during find command: " + x.command.full
	case "getMore":
		during = "Executor error during getMore"
	case "count", "distinct", "aggregate":
		during = "Executor error during " + command + " command on namespace: " + x.command.full
	}
	e := *mongoerr.From(err)
	e.Message = during + " :: caused by :: " + e.Message
	return &e
}

// matcher is a compiled filter of documents that are in no collection.
type matcher struct {
	filter query.Filter
	match  query.Matching
}

func (x *call) matcher(doc []byte) (*matcher, error) {
	m := &matcher{}
	hooks := x.client.language
	hooks.Refused = pipeline.NotInMatch
	err := m.filter.ParseWith(doc, hooks)
	m.match.Vars = x.result.vars.values
	return m, err
}

func (m *matcher) matches(doc []byte) (bool, error) { return m.filter.MatchWith(doc, &m.match) }

// noUpsertExpr refuses an $expr in the filter of an upsert.
func noUpsertExpr(query.Value, query.Collation) (query.Expr, error) {
	return nil, mongoerr.Errorf(mongoerr.QueryFeatureNotAllowed, "$expr is not allowed in the query predicate for an upsert")
}
