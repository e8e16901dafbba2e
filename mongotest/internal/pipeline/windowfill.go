package pipeline

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/expr"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// locf is $locf: where there is no value, the last one before.
type locf struct{ input expr.Expression }

func parseLocf(_ *windowStage, p *parser, f field, w window) (windowFunction, error) {
	if w.given {
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "'window' field is not allowed in $locf")
	}
	e, err := p.expression(f.Value)
	return &locf{e}, err
}

func (l *locf) begin(r *runner, part *partition) windowValues {
	last := null
	return func(i int) (Value, error) {
		v, err := r.eval(l.input, part.docs[i])
		if !v.IsNullish() {
			last = v
		}
		return last, err
	}
}

// linearFill is $linearFill: where there is no value, one on the line between its neighbours.
type linearFill struct{ input expr.Expression }

func parseLinearFill(s *windowStage, p *parser, f field, w window) (windowFunction, error) {
	if len(s.keys) != 1 {
		return nil, mongoerr.Errorf(605001, "$linearFill must be specified with a top level sortBy expression with exactly one element")
	}
	if w.given {
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "'window' field is not allowed in $linearFill")
	}
	e, err := p.expression(f.Value)
	return &linearFill{e}, err
}

func (l *linearFill) begin(r *runner, part *partition) windowValues {
	in := newInputs(r, l.input, part.docs)
	left, right := -1, 0 // the places of the known values on both sides
	return func(i int) (Value, error) {
		v, err := part.known(in, i)
		switch {
		case err != nil:
			return missing, err
		case !v.IsNullish():
			left = i
			return v, nil
		case left < 0:
			return null, nil
		}
		if right, err = part.next(in, max(right, i+1)); err != nil || right == len(part.docs) {
			return null, err
		}
		return part.between(in.values, left, i, right)
	}
}

// next returns the place of the first value that is not null, from one on.
func (p *partition) next(in *inputs, from int) (int, error) {
	for i := from; i < len(p.docs); i++ {
		if v, err := in.at(i); err != nil || !v.IsNullish() {
			return i, err
		}
	}
	return len(p.docs), nil
}

// known returns the value of a document, which may be null, after a look at its key.
func (p *partition) known(in *inputs, i int) (Value, error) {
	v, err := in.at(i)
	if err != nil {
		return missing, err
	}
	if !v.IsNullish() && !v.IsNumber() {
		return missing, mongoerr.Errorf(mongoerr.TypeMismatch, "Value to be filled must be numeric or nullish, but found %s", typeName(v))
	}
	if key := p.keyOf(i); !key.IsNumber() && !isDate(key) {
		return missing, mongoerr.Errorf(mongoerr.TypeMismatch, "Value of the sortBy field must be numeric or a date, but found %s", typeName(key))
	}
	if i > 0 && query.Equal(p.keyOf(i), p.keyOf(i-1)) {
		return missing, mongoerr.Errorf(6050106, "There can be no repeated values in the sort field in the same partition")
	}
	return v, nil
}

// between returns the value of a document on the line between two known ones.
func (p *partition) between(values []Value, left, i, right int) (Value, error) {
	slope, err := p.slope(values, left, right)
	if err != nil {
		return missing, err
	}
	run, err := compute("$subtract", p.keyOf(i), p.keyOf(left))
	if err != nil {
		return missing, err
	}
	rise, err := compute("$multiply", slope, run)
	if err != nil {
		return missing, err
	}
	return compute("$add", values[left], rise)
}

// slope returns by how much values rise for each unit of the sort key between two documents, null if their keys are equal.
func (p *partition) slope(values []Value, left, right int) (Value, error) {
	rise, err := compute("$subtract", values[right], values[left])
	if err != nil {
		return missing, err
	}
	if query.Equal(p.keyOf(left), p.keyOf(right)) {
		return null, nil
	}
	run, err := compute("$subtract", p.keyOf(right), p.keyOf(left))
	if err != nil {
		return missing, err
	}
	return compute("$divide", rise, run)
}
