package pipeline

import (
	"errors"
	"iter"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/expr"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

// Options is what Parse needs to know besides the stages.
type Options struct {
	DB, Coll string // Coll is "" in an aggregation of a database, {aggregate: 1}
	Let      []byte // the command's let; nil for none

	Collation query.Collation // nil if strings are compared by their bytes
	Version   version.Version // zero: the newest
}

// Pipeline is a compiled aggregation.
type Pipeline struct {
	*Let
	steps     []step
	collation query.Collation
}

// step is one stage with what it was compiled from.
type step struct {
	*kind
	spec  Value
	stage stage
}

// Parse compiles an array of stages. It keeps parts of it, which must not change afterwards. Like the real server it looks
// at the names of all stages, at their insides in turn, and at the order last. Errors are of type *mongoerr.Error.
func Parse(stages []byte, o Options) (*Pipeline, error) {
	p := newParser(o)
	compiled, err := p.pipeline(stages)
	if err != nil {
		return nil, err
	}
	return compiled, p.optimized()
}

// ParseView compiles the stages of a view's definition. A constant expression without a value is no error there: the real server
// evaluates constants when a command reads the view.
func ParseView(stages []byte, o Options) (*Pipeline, error) {
	return newParser(o).pipeline(stages)
}

func (p *parser) pipeline(stages []byte) (*Pipeline, error) {
	list := lastOfEach(Value{Type: bson.TypeArray, Data: stages})
	if err := p.survey(list); err != nil {
		return nil, err
	}
	let, err := ParseLet(p.Let, p.Version)
	if err != nil {
		return nil, err
	}
	p = p.within(let.variables.names)
	steps, err := p.steps(list)
	if err != nil {
		return nil, err
	}
	if err := p.checkOrder(steps); err != nil {
		return nil, err
	}
	return &Pipeline{Let: let, steps: steps, collation: p.Collation}, nil
}

// Survey returns the error of stages that are wrong, before any is compiled.
func Survey(stages []byte, o Options) error {
	return newParser(o).survey(lastOfEach(Value{Type: bson.TypeArray, Data: stages}))
}

// First returns the name and the specification of the first stage, "" if there is none: it may be one that the server
// must answer before it reads a collection, such as $changeStream.
func (p *Pipeline) First() (string, Value) {
	if len(p.steps) == 0 {
		return "", missing
	}
	return p.steps[0].name, p.steps[0].spec
}

// Reads reports whether the pipeline reads the collection: its first stage makes no documents of its own.
func (p *Pipeline) Reads() bool {
	return len(p.steps) == 0 || !p.steps[0].source && !searches(p.steps[0])
}

// SearchesText reports whether the pipeline begins with a search for words.
func (p *Pipeline) SearchesText() bool { return len(p.steps) > 0 && searchesText(p.steps[0]) }

// Gathers reports whether a stage takes all documents before it gives the first, other than a sort, which the real server's
// collection does.
func (p *Pipeline) Gathers() bool {
	for _, s := range p.steps {
		if _, gathers := s.stage.(blocking); gathers && s.name != "$sort" {
			return true
		}
	}
	return false
}

// Filter returns the filter of a $match at the start, nil if there is none. The pipeline does not need the
// other documents; the $match itself still runs.
func (p *Pipeline) Filter() *query.Filter {
	if len(p.steps) > 0 {
		if m, ok := p.steps[0].stage.(*match); ok {
			return &m.filter
		}
	}
	return nil
}

// Target returns what the $out or $merge at the end writes to, nil if there is none.
func (p *Pipeline) Target() *Target {
	if len(p.steps) > 0 {
		if t, ok := p.steps[len(p.steps)-1].stage.(*Target); ok {
			return t
		}
	}
	return nil
}

// Run returns what the pipeline makes of documents, with the values of its Let. If it has a Target, these are what to
// write.
func (p *Pipeline) Run(c Context, vars any, docs iter.Seq[[]byte]) ([][]byte, error) {
	in := func(yield func([]byte, error) bool) {
		for doc := range docs {
			if !yield(doc, nil) {
				return
			}
		}
	}
	c.Collation = p.collation
	out, err := collect(chain(c.with(vars), p.steps, in))
	for i := range out {
		out[i] = query.Plain(out[i])
		if err == nil && !p.watches() {
			err = CheckSize(len(out[i]))
		}
	}
	return out, err
}

// watches reports whether the pipeline is that of a change stream, whose events are checked when they are returned.
func (p *Pipeline) watches() bool { return len(p.steps) > 0 && p.steps[0].name == changeStream }

// maxResult is how many bytes a document may have that leaves a pipeline: 16 MiB, and 16 KiB for what a reply has around it.
const maxResult = 16<<20 + 16<<10

// CheckSize refuses a result of a number of bytes if it has too many.
func CheckSize(n int) error {
	if n <= maxResult {
		return nil
	}
	return mongoerr.Errorf(mongoerr.BSONObjectTooLarge, "Serializing Document failed :: caused by :: Size %d exceeds maximum %d", n, maxResult)
}

// chain runs stages one behind the other.
func chain(r *runner, steps []step, in stream) stream {
	for _, s := range steps {
		in = watched(r, s.stage.run(r, in))
	}
	return in
}

// watched counts the documents of a stream as work.
func watched(r *runner, in stream) stream {
	if r.Work == nil {
		return in
	}
	return func(yield func([]byte, error) bool) {
		for doc, err := range in {
			if err == nil {
				err = r.Work.Bytes(len(doc))
			}
			if !yield(doc, err) || err != nil {
				return
			}
		}
	}
}

// parser holds the context in which a stage is parsed.
type parser struct {
	Options
	names  []string // the variables in scope
	scope  *expr.Scope
	depth  int
	update bool
	nested bool // in a pipeline of another stage
	// failing is the first error of evaluating a constant expression. The real server does that when all is parsed.
	failing *error
}

// has reports whether the server has what there is since a version.
func (p *parser) has(since version.Version) bool { return p.Version.IsZero() || p.Version.Has(since) }

func newParser(o Options) *parser {
	return &parser{Options: o, scope: (*expr.Scope)(nil).By(o.Collation).At(o.Version), failing: new(error)}
}

// maxDepth is how deep pipelines may be in one another.
const maxDepth = 20

// within returns a parser for the inner stages, which know more variables.
func (p *parser) within(names []string) *parser {
	inner := *p
	inner.names = slices.Concat(p.names, names)
	inner.scope = expr.NewScope(inner.names...).By(p.Collation).At(p.Version)
	return &inner
}

func (p *parser) expression(v Value) (expr.Expression, error) {
	if p.update {
		return expr.ParseAsWritten(v, p.scope)
	}
	e, err := expr.Parse(v, p.scope)
	if p.fails(err) {
		return broken{err}, nil
	}
	return e, err
}

type accumulatorParser func(name string, v Value, scope *expr.Scope) (*expr.Accumulator, error)

// accumulator is to accumulators what expression is to expressions.
func (p *parser) accumulator(parse accumulatorParser, name string, v Value) (*expr.Accumulator, error) {
	acc, err := parse(name, v, p.scope)
	if p.fails(err) {
		return expr.ParseAccumulator("$sum", int64Value(0), p.scope)
	}
	return acc, err
}

// fails reports whether an error is that of a constant, and keeps the first.
func (p *parser) fails(err error) bool {
	var refused *mongoerr.Error
	if !errors.As(err, &refused) || !refused.Constant {
		return false
	}
	if *p.failing == nil {
		*p.failing = err
	}
	return true
}

// optimized is the error of a constant expression, nil for none.
func (p *parser) optimized() error {
	if *p.failing == nil {
		return nil
	}
	return because("Failed to optimize pipeline", *p.failing)
}

// inside optimizes the parts of a stage, with a parser of its own, before the whole.
func (p *parser) inside(parse func(inner *parser) error) error {
	inner := p.late()
	err := parse(inner)
	if failed := inner.optimized(); *p.failing == nil {
		*p.failing = failed
	}
	return err
}

// late returns a parser whose constant expressions are evaluated no sooner than others.
func (p *parser) late() *parser {
	other := *p
	other.failing = new(error)
	return &other
}

// broken is a constant expression that has no value.
type broken struct{ err error }

// Eval returns the error.
func (b broken) Eval(*expr.Env) (Value, error) { return missing, b.err }

// refusedInUpdate returns the name of what an update cannot have, "" for nothing. A stage that the real server makes of others is
// refused by the name of the first of those that an update cannot have; a $fill of values alone is an $addFields.
func refusedInUpdate(f field) string {
	switch f.Name {
	case "$sortByCount", "$count", "$bucket":
		return "$group"
	case "$densify":
		return "$sort"
	case "$fill":
		return refusedFill(f.Value)
	}
	return f.Name
}

func refusedFill(spec Value) string {
	if !spec.IsDocument() || !query.Lookup(spec.Data, "output").IsDocument() {
		return "" // which its own parser refuses
	}
	fields := query.ObjectOf(spec.Data)
	values := !slices.ContainsFunc(query.ObjectOf(fields.Get("output").Data), func(f field) bool {
		return f.Value.IsDocument() && query.Lookup(f.Value.Data, "value").Missing()
	})
	switch {
	case values:
		return ""
	case fields.Get("sortBy").Missing() && fields.Get("partitionBy").Missing() && fields.Get("partitionByFields").Missing():
		return "$_internalSetWindowFields"
	}
	return "$sort"
}

// steps compiles the stages of an array that survey has seen.
func (p *parser) steps(stages Value) ([]step, error) {
	var steps []step
	for _, v := range query.Elements(stages.Data) {
		f := query.ObjectOf(v.Data)[0]
		k := stageKinds[f.Name]
		if p.update && !k.update {
			if refused := refusedInUpdate(f); refused != "" {
				return nil, mongoerr.Errorf(mongoerr.InvalidOptions, "%s is not allowed to be used within an update", refused)
			}
		}
		s, err := k.parse(p, f.Name, f.Value)
		if err != nil {
			return nil, err
		}
		steps = append(steps, step{kind: k, spec: f.Value, stage: s})
	}
	return steps, nil
}
