package expr

import (
	"slices"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// some collects up to n values: the first, the last, the least or the greatest.
type some struct {
	n      int
	sign   int // order by value, 0 for the order of coming
	last   bool
	values []Value
}

func (s *some) add(v Value) error {
	switch {
	case s.sign != 0:
		if !nullish(v) {
			s.insert(v)
		}
	case s.last || len(s.values) < s.n:
		s.values = append(s.values, orNull(v))
		s.values = s.values[max(0, len(s.values)-s.n):]
	}
	return nil
}

// insert keeps the values in order, the latest of equal ones first. One that is not better than the last goes if there are
// enough.
func (s *some) insert(v Value) {
	at, equal := slices.BinarySearchFunc(s.values, v, func(a, b Value) int { return s.sign * query.Compare(a, b) })
	if full := len(s.values) == s.n; full && (at == s.n || equal && query.Equal(s.values[s.n-1], v)) {
		return
	}
	s.values = slices.Insert(s.values, at, v)
	s.values = s.values[:min(s.n, len(s.values))]
}

func (s *some) result() Value { return array(s.values) }

func newSome(name string, n int) *some {
	return &some{n: n, sign: map[string]int{"$minN": 1, "$maxN": -1}[name], last: name == "$lastN"}
}

// someArguments reads {n, input}.
func (p *parser) someArguments(name string, v Value) (n, input Expression, err error) {
	if !v.IsDocument() {
		code := int32(5787900)
		if name == "$firstN" || name == "$lastN" {
			code = 5787801
		}
		return nil, nil, fail(code, "specification must be an object; found %s", elementText(name, v))
	}
	for _, f := range fieldsOf(v.Data) {
		switch f.name {
		case "n":
			n, err = p.expression(f.value)
		case "input":
			input, err = p.expression(f.value)
		default:
			err = fail(5787901, "Unknown argument for 'n' operator: %s", f.name)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if n == nil {
		return nil, nil, fail(5787906, "Missing value for 'n'")
	}
	if input == nil {
		return nil, nil, fail(5787907, "Missing value for 'input'")
	}
	return n, input, nil
}

// elementText writes a field as the real server does in the text of an error.
func elementText(name string, v Value) string {
	s := object{{name, v}}.value().String()
	return s[2 : len(s)-2]
}

func howMany(v Value) (int, error) {
	if !v.IsNumber() {
		return 0, fail(5787902, "Value for 'n' must be of integral type, but found %s", spelled(v))
	}
	n, err := truncated(v)
	if err != nil {
		return 0, err
	}
	if _, whole := asWholeLong(v); !whole {
		return 0, fail(5787903, "Value for 'n' must be of integral type, but found %s", spelled(v))
	}
	if n <= 0 {
		return 0, fail(5787908, "'n' must be greater than 0, found %d", n)
	}
	return int(min(n, 1<<31)), nil
}

func (p *parser) some(name string, v Value) (*Accumulator, error) {
	count, input, err := p.someArguments(name, v)
	if err != nil {
		return nil, err
	}
	n, err := p.constantCount(count)
	if err != nil {
		return nil, err
	}
	return &Accumulator{input, func() collector { return newSome(name, n) }}, nil
}

// constantCount returns the number of values that an accumulator keeps. The real server evaluates it for the group's
// _id; here it sees no document.
func (p *parser) constantCount(e Expression) (int, error) {
	if p.constantError != nil {
		return 1, nil //nolint:nilerr // it is reported when all is parsed
	}
	v, err := e.Eval(&Env{Root: emptyDocument})
	if err != nil {
		return 0, err
	}
	return howMany(v)
}

var someOperators = []operator{someOperator("$firstN"), someOperator("$lastN"), someOperator("$minN"), someOperator("$maxN")}

// someOperator is the accumulator as an expression over an array.
func someOperator(name string) operator {
	return operator{
		name: name,
		parse: func(p *parser, op *operator, v Value) (Expression, error) {
			before := p.constantError
			n, input, err := p.someArguments(name, v)
			if err != nil {
				return nil, err
			}
			p.constantError = before // the real server leaves these arguments alone until it sees a document
			return p.call(op, []Expression{n, input}), nil
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
				return missing, fail(5788200, "Input must be an array")
			}
			return collect(newSome(name, n), query.Elements(input.Data))
		},
		late: true,
	}
}
