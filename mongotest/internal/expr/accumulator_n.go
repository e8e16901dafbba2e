package expr

import (
	"slices"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/ordered"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// some collects up to n values in the order of coming: the first or the last.
type some struct {
	n      int
	last   bool
	over   bool // there were more than n
	values []Value
}

func (s *some) add(v Value) error {
	s.over = len(s.values) == s.n
	if s.last || !s.over {
		s.values = append(s.values, orNull(v))
		s.values = s.values[max(0, len(s.values)-s.n):]
	}
	return nil
}

func (s *some) complete() bool { return s.over && !s.last }

func (s *some) result() Value { return array(s.values) }

// extremes collects up to n values, the least or the greatest.
type extremes struct {
	n    int
	sign int // 1 for the least, -1 for the greatest
	heap ordered.Heap
}

func (e *extremes) collate(c query.Collation) {
	e.heap.Less = func(a, b Value) bool { return query.CompareBy(c, a, b)*e.sign < 0 }
}

func (e *extremes) add(v Value) error {
	switch {
	case v.IsNullish():
		return nil
	case len(e.heap.Values) == e.n:
		if !e.heap.Less(v, e.heap.Values[0]) {
			return nil
		}
		e.heap.Pop(e.n)
		e.heap.Values = e.heap.Values[:e.n-1]
	}
	e.heap.Push(v)
	return nil
}

func (e *extremes) result() Value {
	h := ordered.Heap{Values: slices.Clone(e.heap.Values), Less: e.heap.Less}
	return array(h.Sort())
}

func newSome(name string, n int) collector {
	switch name {
	case "$minN":
		return &extremes{n, 1, ordered.Heap{Less: func(a, b Value) bool { return query.Compare(a, b) < 0 }}}
	case "$maxN":
		return &extremes{n, -1, ordered.Heap{Less: func(a, b Value) bool { return query.Compare(a, b) > 0 }}}
	}
	return &some{n: n, last: name == "$lastN"}
}

// someArguments reads {n, input}.
func (p *parser) someArguments(name string, v Value) (n, input Expression, err error) {
	if !v.IsDocument() {
		code := int32(5787900)
		if name == "$firstN" || name == "$lastN" {
			code = 5787801
		}
		return nil, nil, mongoerr.Errorf(code, "specification must be an object; found %s", elementText(name, v))
	}
	for _, f := range query.ObjectOf(v.Data) {
		switch f.Name {
		case "n":
			n, err = p.expression(f.Value)
		case "input":
			input, err = p.expression(f.Value)
		default:
			err = mongoerr.Errorf(5787901, "Unknown argument for 'n' operator: %s", f.Name)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if n == nil {
		return nil, nil, mongoerr.Errorf(5787906, "Missing value for 'n'")
	}
	if input == nil {
		return nil, nil, mongoerr.Errorf(5787907, "Missing value for 'input'")
	}
	return n, input, nil
}

// elementText writes a field as the real server does in the text of an error.
func elementText(name string, v Value) string {
	s := object{}.Set(name, v).Made().String()
	return s[2 : len(s)-2]
}

func howMany(v Value) (int, error) {
	if !v.IsNumber() {
		return 0, mongoerr.Errorf(5787902, "Value for 'n' must be of integral type, but found %s", spelled(v))
	}
	n, err := coercedLong(v)
	if err != nil {
		return 0, err
	}
	if _, whole := asWholeLong(v); !whole {
		return 0, mongoerr.Errorf(5787903, "Value for 'n' must be of integral type, but found %s", spelled(v))
	}
	if n <= 0 {
		return 0, mongoerr.Errorf(5787908, "'n' must be greater than 0, found %d", n)
	}
	return int(min(n, 1<<31)), nil
}

func (p *parser) some(name string, v Value) (*Accumulator, error) {
	count, input, err := p.someArguments(name, v)
	if err != nil {
		return nil, err
	}
	return &Accumulator{count: count, input: input, start: func(n int) collector { return newSome(name, n) }}, nil
}

var someOperators = []operator{someOperator("$firstN"), someOperator("$lastN"), someOperator("$minN"), someOperator("$maxN")}

// someOperator is the accumulator as an expression over an array.
func someOperator(name string) operator {
	return operator{
		name: name,
		parse: func(p *parser, op *operator, v Value) (Expression, error) {
			n, input, err := p.someArguments(name, v)
			if err != nil {
				return nil, err
			}
			return &call{op: op, args: []Expression{n, input}}, nil
		},
		lazy: func(env *Env, args []Expression) (Value, error) {
			count, err := args[0].Eval(env)
			if err != nil {
				return missing, err
			}
			n, err := howMany(count)
			if err != nil {
				return missing, err
			}
			input, err := args[1].Eval(env)
			if err != nil {
				return missing, err
			}
			if !input.IsArray() {
				return missing, mongoerr.Errorf(5788200, "Input must be an array")
			}
			return collect(env, newSome(name, n), query.Elements(input.Data))
		},
		optimize: untouched,
	}
}
