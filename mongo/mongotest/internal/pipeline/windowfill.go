package pipeline

import (
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/expr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// locf is $locf: where there is no value, the last one before.
type locf struct{ input expr.Expression }

func parseLocf(_ *windowStage, p *parser, f field, w window) (windowFunction, error) {
	if w.given {
		return nil, fail(failedToParse, "'window' field is not allowed in $locf")
	}
	e, err := p.expression(f.value)
	return &locf{e}, err
}

func (l *locf) values(r *runner, part *partition) ([]Value, error) {
	values, err := inputs(r, l.input, part.docs)
	if err != nil {
		return nil, err
	}
	last := null
	for i, v := range values {
		if !nullish(v) {
			last = v
		}
		values[i] = last
	}
	return values, nil
}

// linearFill is $linearFill: where there is no value, one on the line between its neighbours.
type linearFill struct{ input expr.Expression }

func parseLinearFill(s *windowStage, p *parser, f field, w window) (windowFunction, error) {
	if len(s.keys) != 1 {
		return nil, fail(605001, "$linearFill must be specified with a top level sortBy expression with exactly one element")
	}
	if w.given {
		return nil, fail(failedToParse, "'window' field is not allowed in $linearFill")
	}
	e, err := p.expression(f.value)
	return &linearFill{e}, err
}

func (l *linearFill) values(r *runner, part *partition) ([]Value, error) {
	values, err := inputs(r, l.input, part.docs)
	if err != nil {
		return nil, err
	}
	for i, v := range values {
		if key := part.keyOf(i); !key.IsNumber() && !isDate(key) {
			return nil, fail(typeMismatch, "Value of the sortBy field must be numeric or a date, but found %s", typeName(key))
		}
		if i > 0 && query.Equal(part.keyOf(i), part.keyOf(i-1)) {
			return nil, fail(6050106, "There can be no repeated values in the sort field in the same partition")
		}
		if !nullish(v) && !v.IsNumber() {
			return nil, fail(typeMismatch, "Value to be filled must be numeric or nullish, but found %s", typeName(v))
		}
	}
	left := -1
	for i, v := range values {
		if nullish(v) {
			values[i] = null
			continue
		}
		if left >= 0 {
			if err := part.line(values, left, i); err != nil {
				return nil, err
			}
		}
		left = i
	}
	return values, nil
}

// line sets the values between two known ones.
func (p *partition) line(values []Value, left, right int) error {
	for i := left + 1; i < right; i++ {
		slope, err := p.slope(values, left, right)
		if err != nil {
			return err
		}
		run, err := compute("$subtract", p.keyOf(i), p.keyOf(left))
		if err != nil {
			return err
		}
		rise, err := compute("$multiply", slope, run)
		if err != nil {
			return err
		}
		if values[i], err = compute("$add", values[left], rise); err != nil {
			return err
		}
	}
	return nil
}

// slope returns by how much values rise for each unit of the sort key between two documents.
func (p *partition) slope(values []Value, left, right int) (Value, error) {
	rise, err := compute("$subtract", values[right], values[left])
	if err != nil {
		return missing, err
	}
	run, err := compute("$subtract", p.keyOf(right), p.keyOf(left))
	if err != nil {
		return missing, err
	}
	return compute("$divide", rise, run)
}
