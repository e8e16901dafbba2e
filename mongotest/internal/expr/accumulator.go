package expr

import (
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// Accumulator is a compiled accumulator of $group and its kin.
type Accumulator struct {
	count Expression // how many values to keep
	input Expression
	start func(count int) collector

	script *scripted // of an $accumulator, which has no start
}

// State is one accumulator's state over the documents of a group.
type State struct {
	accumulator *Accumulator
	collector   collector
}

// collector takes the input's values one by one.
type collector interface {
	add(v Value) error
	result() Value
}

// New returns the state of an empty group, whose _id is the Root of env: how many values an accumulator keeps may depend on it.
func (a *Accumulator) New(env *Env) (*State, error) {
	if a.script != nil {
		group, err := a.script.start(env)
		return &State{a, group}, err
	}
	n, err := a.size(env)
	if err != nil {
		return nil, err
	}
	return &State{a, env.collated(a.start(n))}, nil
}

func (a *Accumulator) size(env *Env) (int, error) {
	if a.count == nil {
		return 0, nil
	}
	v, err := a.count.Eval(env)
	if err != nil {
		return 0, err
	}
	return howMany(v)
}

// Fixed reports whether the accumulator is the same for all groups.
func (a *Accumulator) Fixed() bool {
	return (a.count == nil || isConstant(a.count)) && (a.script == nil || isConstant(a.script.initArgs))
}

// Eval evaluates what the accumulator is to collect of a document.
func (a *Accumulator) Eval(env *Env) (Value, error) { return a.input.Eval(env) }

// Add evaluates the accumulator's input for one more document.
func (s *State) Add(env *Env) error {
	v, err := s.accumulator.Eval(env)
	if err != nil {
		return err
	}
	return s.collector.add(v)
}

// Complete reports whether further documents change nothing, so that the real server's $group does not look at them.
func (s *State) Complete() bool {
	c, ok := s.collector.(interface{ complete() bool })
	return ok && c.complete()
}

// Result returns the value for the documents added so far. More may be added after it.
func (s *State) Result(w *query.Work) (Value, error) {
	if f, ok := s.collector.(interface{ finish(w *query.Work) error }); ok {
		if err := f.finish(w); err != nil {
			return missing, err
		}
	}
	return s.collector.result(), nil
}

// accumulators are those that take any one expression.
var accumulators = map[string]func() collector{
	"$sum": func() collector { return &sum{} }, "$avg": func() collector { return &sum{mean: true} },
	"$min": func() collector { return &extremum{sign: -1} }, "$max": func() collector { return &extremum{sign: 1} },
	"$first": func() collector { return &first{} }, "$last": func() collector { return &last{} },
	"$push": func() collector { return &push{memory: kept{name: "$push"}} }, "$addToSet": func() collector { return &addToSet{memory: kept{name: "$addToSet"}} },
	"$stdDevPop":    func() collector { return &deviation{} },
	"$stdDevSamp":   func() collector { return &deviation{sample: true} },
	"$mergeObjects": func() collector { return &merge{} },
	"$concatArrays": func() collector {
		return &arrays{name: "$concatArrays", into: &push{memory: kept{name: "$concatArrays"}}}
	},
	"$setUnion": func() collector { return &arrays{name: "$setUnion", into: &addToSet{memory: kept{name: "$setUnion"}}} },
}

// ParseAccumulator compiles the accumulator {name: v}.
func ParseAccumulator(name string, v Value, scope *Scope) (*Accumulator, error) {
	p := &parser{scope: scope}
	a, err := p.accumulator(name, v)
	if err != nil {
		return nil, err
	}
	if a.count != nil {
		if a.count, err = optimize(a.count, scope.Collation()); err != nil {
			return nil, err
		}
	}
	if a.script != nil {
		if a.script.initArgs, err = optimize(a.script.initArgs, scope.Collation()); err != nil {
			return nil, err
		}
	}
	a.input, err = optimize(a.input, scope.Collation())
	return a, err
}

// ParseWindowAccumulator compiles one of a window, where a plain accumulator may be of an array. How many values it keeps is
// known then: it sees no document.
func ParseWindowAccumulator(name string, v Value, scope *Scope) (*Accumulator, error) {
	if name == "$accumulator" {
		return nil, unknownAccumulator(name)
	}
	p := &parser{scope: scope}
	a := &Accumulator{}
	var err error
	if start, ok := accumulators[name]; ok && v.IsArray() {
		a.start = counted(start)
		a.input, err = p.expression(v)
	} else {
		a, err = p.accumulator(name, v)
	}
	if err != nil {
		return nil, err
	}
	n, err := a.size(&Env{Root: query.EmptyDocument})
	if err != nil {
		return nil, err
	}
	if a.count != nil {
		a.count = constant{query.Int64(int64(n))}
	}
	a.input, err = optimize(a.input, scope.Collation())
	return a, err
}

// counted is how a collector is made that keeps no number of values.
func counted(start func() collector) func(int) collector {
	return func(int) collector { return start() }
}

// accumulatorParsers compile the accumulators that take more than any one expression. It is never written to after init.
var accumulatorParsers map[string]func(p *parser, name string, v Value) (*Accumulator, error)

func init() { // not initialized in place, because an accumulator has expressions
	accumulatorParsers = map[string]func(*parser, string, Value) (*Accumulator, error){
		"$count": (*parser).counter,
		"$top":   (*parser).ranked, "$bottom": (*parser).ranked, "$topN": (*parser).ranked, "$bottomN": (*parser).ranked,
		"$firstN": (*parser).some, "$lastN": (*parser).some, "$minN": (*parser).some, "$maxN": (*parser).some,
		"$median": (*parser).percentileOf, "$percentile": (*parser).percentileOf,
		"$accumulator": (*parser).scripted,
	}
}

// Accumulators returns the names of all accumulators.
func Accumulators() []string {
	names := slices.Collect(maps.Keys(accumulatorParsers))
	return slices.Sorted(slices.Values(slices.AppendSeq(names, maps.Keys(accumulators))))
}

func (p *parser) accumulator(name string, v Value) (*Accumulator, error) {
	if parse, ok := accumulatorParsers[name]; ok {
		return parse(p, name, v)
	}
	start, ok := accumulators[name]
	if !ok {
		return nil, unknownAccumulator(name)
	}
	if v.IsArray() {
		return nil, mongoerr.Errorf(40237, "The %s accumulator is a unary operator", name)
	}
	input, err := p.expression(v)
	return &Accumulator{input: input, start: counted(start)}, err
}

func unknownAccumulator(name string) error {
	return mongoerr.Errorf(15952, "unknown group operator '%s'", name)
}

// counter is $count.
func (p *parser) counter(_ string, v Value) (*Accumulator, error) {
	if !v.IsDocument() || query.Count(v.Data) > 0 {
		return nil, mongoerr.Errorf(mongoerr.TypeMismatch, "$count takes no arguments, i.e. $count:{}")
	}
	return &Accumulator{input: constant{query.Int32(1)}, start: counted(accumulators["$sum"])}, nil
}

func (p *parser) percentileOf(name string, v Value) (*Accumulator, error) {
	if !v.IsDocument() {
		code := int32(7429703)
		if name == "$median" {
			code = 7436100
		}
		return nil, mongoerr.Errorf(code, "specification must be an object; found %s", elementText(name, v))
	}
	input, start, err := p.percentiles(name, v)
	return &Accumulator{input: input, start: counted(start)}, err
}

// extremum is $min and $max: null and absent values count only if there are no others.
type extremum struct {
	sign int
	best Value
	by   query.Collation
}

func (e *extremum) collate(c query.Collation) { e.by = c }

func (e *extremum) add(v Value) error {
	if !v.IsNullish() && (e.best.Missing() || query.CompareBy(e.by, v, e.best)*e.sign > 0) {
		e.best = v
	}
	return nil
}

func (e *extremum) result() Value { return orNull(e.best) }

func orNull(v Value) Value {
	if v.Missing() {
		return null
	}
	return v
}

type first struct {
	value Value
	any   bool
}

func (f *first) add(v Value) error {
	if !f.any {
		f.value, f.any = v, true
	}
	return nil
}

func (f *first) complete() bool { return f.any }

func (f *first) result() Value { return orNull(f.value) }

type last struct{ value Value }

func (l *last) add(v Value) error {
	l.value = v
	return nil
}

func (l *last) result() Value { return orNull(l.value) }

// kept counts about how many bytes the real server needs for the values that an accumulator keeps.
type kept struct {
	name string
	size int
}

// add counts one more value; empty is what the accumulator itself takes.
func (k *kept) add(v Value, empty int) error {
	if k.size += 48 + len(v.Data); v.IsString() {
		k.size -= 5
	}
	if n := k.size + empty; n > maxMemory {
		return mongoerr.Errorf(mongoerr.ExceededMemoryLimit, "%s needs too much memory. Needs: %d bytes. Local memory limit: %d bytes.", k.name, n,
			maxMemory)
	}
	return nil
}

// remove counts one value less.
func (k *kept) remove(v Value) {
	if k.size -= 48 + len(v.Data); v.IsString() {
		k.size += 5
	}
}

type push struct {
	values []Value
	memory kept
}

func (p *push) add(v Value) error {
	if v.Missing() {
		return nil
	}
	p.values = append(p.values, v)
	return p.memory.add(v, 40)
}

func (p *push) result() Value { return array(p.values) }

// addToSet keeps the order in which values came; the real server keeps none.
type addToSet struct {
	values []Value
	known  query.ValueSet
	memory kept
	by     query.Collation
}

func (s *addToSet) collate(c query.Collation) { s.by = c }

func (s *addToSet) add(v Value) error {
	if v.Missing() || !s.known.Add(query.Keyed(s.by, v)) {
		return nil
	}
	s.values = append(s.values, v)
	return s.memory.add(v, 64)
}

func (s *addToSet) result() Value { return array(s.values) }

// arrays adds the elements of arrays.
type arrays struct {
	name string
	into collector
}

func (a *arrays) collate(c query.Collation) {
	if by, ok := a.into.(collating); ok {
		by.collate(c)
	}
}

func (a *arrays) add(v Value) error {
	if v.Missing() {
		return nil
	}
	if v.Type != bson.TypeArray {
		return mongoerr.Errorf(mongoerr.TypeMismatch, "%s requires array inputs, but input %s is of type %s", a.name, spelled(v), typeName(v))
	}
	for _, e := range query.Elements(v.Data) {
		if err := a.into.add(e); err != nil {
			return err
		}
	}
	return nil
}

func (a *arrays) result() Value { return a.into.result() }

type merge struct{ merged query.Builder }

func (m *merge) add(v Value) error { return mergeInto(&m.merged, v) }

func (m *merge) result() Value { return m.merged.Made() }
