package pipeline

import (
	"strings"

	"github.com/holdfast-db/holdfast/mongotest/internal/expr"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// windowFunctions are the functions that are no accumulators.
var windowFunctions = map[string]func(s *windowStage, p *parser, f field, w window) (windowFunction, error){
	"$rank": parseRank, "$denseRank": parseRank, "$documentNumber": parseRank, "$shift": parseShift, "$locf": parseLocf,
	"$linearFill": parseLinearFill, "$derivative": parseDerivative, "$integral": parseIntegral, "$expMovingAvg": parseMovingAverage,
	"$covariancePop": parseCovariance, "$covarianceSamp": parseCovariance,
	"$minMaxScaler": parseScaler,
}

func (s *windowStage) parseFunction(p *parser, f field) (windowFunction, error) {
	if !f.Value.IsDocument() {
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "The field '%s' must be an object", f.Name)
	}
	fields := query.ObjectOf(f.Value.Data)
	if len(fields) == 0 {
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "Expected a $-prefixed window function")
	}
	function := fields[0]
	if !strings.HasPrefix(function.Name, "$") {
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "Expected a $-prefixed window function, %s", function.Name)
	}
	ranking := strings.HasSuffix(function.Name, "ank") || function.Name == "$documentNumber"
	if ranking && len(fields) > 1 {
		return nil, mongoerr.Errorf(5371601, "Rank style window functions take no other arguments")
	}
	for _, other := range fields[1:] {
		if other.Name != "window" {
			return nil, mongoerr.Errorf(mongoerr.FailedToParse, "Window function found an unknown argument: %s", other.Name)
		}
	}
	if err := s.checkCalculus(function.Name); err != nil {
		return nil, err
	}
	w, err := s.parseWindow(fields[1:].Get("window"))
	if err != nil {
		return nil, err
	}
	return s.function(p, function, w)
}

func (s *windowStage) function(p *parser, f field, w window) (windowFunction, error) {
	if parse, ok := windowFunctions[f.Name]; ok {
		return parse(s, p, f, w)
	}
	acc, err := p.accumulator(expr.ParseWindowAccumulator, f.Name, f.Value)
	if err != nil {
		if err.Error() == "unknown group operator '"+f.Name+"'" {
			return nil, mongoerr.Errorf(mongoerr.FailedToParse, "Unrecognized window function, %s", f.Name)
		}
		return nil, err
	}
	if !w.lower.open && f.Name == "$mergeObjects" {
		return nil, mongoerr.Errorf(5461500, "Window function %s is not supported with a removable window", f.Name)
	}
	return &windowAccumulator{f.Name, acc, w}, nil
}

// windowAccumulator is an accumulator over a window.
type windowAccumulator struct {
	name        string
	accumulator *expr.Accumulator
	window      window
}

func (a *windowAccumulator) begin(r *runner, part *partition) windowValues {
	switch {
	case a.name == "$first" || a.name == "$last":
		return a.single(r, part)
	case a.window.lower.open && a.name != "$median" && a.name != "$percentile": // whose state would be sorted for each document
		return a.growing(r, part)
	}
	return a.sliding(r, part)
}

// single gives the values of $first and $last, for which one document of a window is enough.
func (a *windowAccumulator) single(r *runner, part *partition) windowValues {
	return func(i int) (Value, error) {
		first, end, err := a.window.span(part, i)
		if err != nil || first == end {
			return null, err
		}
		if a.name == "$last" {
			first = end - 1
		}
		r.env.Root = part.docs[first]
		v, err := a.accumulator.Eval(r.env)
		return orNull(v), err
	}
}

// growing gives the values for windows that no document leaves.
func (a *windowAccumulator) growing(r *runner, part *partition) windowValues {
	var state *expr.State
	value, in := missing, 0
	return func(i int) (Value, error) {
		_, end, err := a.window.span(part, i)
		if err == nil && state == nil {
			state, err = a.accumulator.New(r.env)
		}
		if err != nil {
			return missing, err
		}
		if end == in && !value.Missing() {
			return value, nil
		}
		for ; in < end; in++ {
			r.env.Root = part.docs[in]
			if err := state.Add(r.env); err != nil {
				return missing, err
			}
		}
		value, err = state.Result(r.Work)
		return value, err
	}
}

// inputs are the values of an expression for the documents of a partition, each evaluated when it is first asked for.
type inputs struct {
	r         *runner
	input     expr.Expression
	docs      [][]byte
	values    []Value
	evaluated []bool
}

func newInputs(r *runner, input expr.Expression, docs [][]byte) *inputs {
	return &inputs{r: r, input: input, docs: docs, values: make([]Value, len(docs)), evaluated: make([]bool, len(docs))}
}

func (in *inputs) at(i int) (Value, error) {
	if in.evaluated[i] {
		return in.values[i], nil
	}
	v, err := in.r.eval(in.input, in.docs[i])
	if err == nil {
		in.values[i], in.evaluated[i] = v, true
	}
	return v, err
}

// rank is $rank, $denseRank and $documentNumber.
type rank string

func parseRank(s *windowStage, _ *parser, f field, _ window) (windowFunction, error) {
	if !f.Value.IsDocument() || len(query.ObjectOf(f.Value.Data)) > 0 {
		return nil, mongoerr.Errorf(5371603, "%s must be specified with '{}' as the value", f.Name)
	}
	if len(s.keys) != 1 {
		return nil, mongoerr.Errorf(5371602, "%s must be specified with a top level sortBy expression with exactly one element", f.Name)
	}
	return rank(f.Name), nil
}

func (k rank) begin(r *runner, part *partition) windowValues {
	n, dense := 0, 0
	return func(i int) (Value, error) {
		if i == 0 || r.compare(orNull(part.keyOf(i)), orNull(part.keyOf(i-1))) != 0 {
			n, dense = i+1, dense+1
		}
		switch k {
		case "$rank":
			return count(n), nil
		case "$denseRank":
			return count(dense), nil
		}
		return count(i + 1), nil
	}
}

// shift is $shift: the value of the document some places on.
type shift struct {
	output   expr.Expression
	by       int64
	fallback Value
}

func parseShift(s *windowStage, p *parser, f field, w window) (windowFunction, error) {
	switch {
	case !s.sorted:
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "'$shift' requires a sortBy")
	case w.given:
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "$shift does not accept a 'window' field")
	case !f.Value.IsDocument():
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "Argument to $shift must be an object")
	}
	k := &shift{fallback: null}
	given := false
	for _, arg := range query.ObjectOf(f.Value.Data) {
		var err error
		switch arg.Name {
		case "output":
			k.output, err = p.expression(arg.Value)
		case "by":
			given = true
			if k.by, err = parseShiftBy(arg.Value); err != nil {
				return nil, err
			}
		case "default":
			if k.fallback, err = p.constant(arg.Value); err == nil && !isConstant(arg.Value) {
				err = mongoerr.Errorf(mongoerr.FailedToParse, "'$shift:default' expression must yield a constant value.")
			}
		default:
			err = mongoerr.Errorf(mongoerr.FailedToParse, "Unknown argument in $shift")
		}
		if err != nil {
			return nil, err
		}
	}
	if !given {
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "$shift requires 'by' as an integer value.")
	}
	if k.output == nil {
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "$shift requires an 'output' expression.")
	}
	return k, nil
}

func parseShiftBy(v Value) (int64, error) {
	n, ok := v.Integer()
	if !ok || n != int64(int32(n)) {
		return 0, mongoerr.Errorf(mongoerr.FailedToParse, "'$shift:by' field must be an integer, but found  %s", written("by", v))
	}
	return n, nil
}

func (k *shift) begin(r *runner, part *partition) windowValues {
	return func(i int) (Value, error) {
		at := int64(i) + k.by
		if at < 0 || at >= int64(len(part.docs)) {
			return k.fallback, nil
		}
		v, err := r.eval(k.output, part.docs[at])
		if v.Missing() {
			v = k.fallback // an absent value is like an absent document
		}
		return v, err
	}
}
