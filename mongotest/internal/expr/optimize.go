package expr

import (
	"errors"
	"slices"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// optimizer evaluates constant parts ahead of time, as the real server does when it has parsed a whole command. This
// decides which error is reported: the first of a constant part, in the order of the arguments, goes before those that a
// document brings about.
type optimizer struct {
	known     map[int]Value // the variables whose values are constant, by slot
	collation query.Collation
}

// optimizable is an expression with parts.
type optimizable interface {
	optimized(o *optimizer) (Expression, error)
}

// optimize returns an expression that gives the same values. An error is marked as that of a constant.
func optimize(e Expression, c query.Collation) (Expression, error) {
	e, err := (&optimizer{known: make(map[int]Value), collation: c}).expression(e)
	var refused *mongoerr.Error
	if errors.As(err, &refused) {
		return nil, &mongoerr.Error{Code: refused.Code, Message: refused.Message, Constant: true}
	}
	return e, err
}

func (o *optimizer) expression(e Expression) (Expression, error) {
	switch e := e.(type) {
	case *path:
		if v, ok := o.known[e.slot]; ok {
			return constant{follow(v, e.names)}, nil
		}
	case optimizable:
		return e.optimized(o)
	}
	return e, nil
}

// whole is an expression with parts, which another may be in.
type whole interface {
	parts() []Expression
}

// used reports whether a variable is used in an expression.
func used(e Expression, slots map[int]bool) {
	switch e := e.(type) {
	case *path:
		slots[e.slot] = true
	case whole:
		for _, part := range e.parts() {
			if part != nil {
				used(part, slots)
			}
		}
	}
}

func (l list) parts() []Expression          { return l }
func (d *document) parts() []Expression     { return d.values }
func (c *call) parts() []Expression         { return c.args }
func (l *let) parts() []Expression          { return append(slices.Clone(l.values), l.body) }
func (l *loop) parts() []Expression         { return []Expression{l.input, l.body} }
func (f *filterLoop) parts() []Expression   { return []Expression{f.input, f.body, f.limit} }
func (r *reduceLoop) parts() []Expression   { return []Expression{r.input, r.initial, r.body} }
func (z *zipper) parts() []Expression       { return append(slices.Clone(z.inputs), z.defaults) }
func (s *sortArray) parts() []Expression    { return []Expression{s.input} }
func (o *overElements) parts() []Expression { return []Expression{o.input} }

// all optimizes expressions in turn, in place.
func (o *optimizer) all(list []Expression) error {
	for i, e := range list {
		e, err := o.expression(e)
		if err != nil {
			return err
		}
		list[i] = e
	}
	return nil
}

// evaluated returns the value of an expression whose parts are constant, and the expression itself if one is not.
func (o *optimizer) evaluated(e Expression, parts []Expression) (Expression, error) {
	for _, part := range parts {
		if !isConstant(part) {
			return e, nil
		}
	}
	v, err := e.Eval(&Env{Collation: o.collation})
	return constant{v}, err
}

func isConstant(e Expression) bool {
	_, ok := e.(constant)
	return ok
}

func (l list) optimized(o *optimizer) (Expression, error) {
	if err := o.all(l); err != nil {
		return nil, err
	}
	return o.evaluated(l, l)
}

func (d *document) optimized(o *optimizer) (Expression, error) {
	if err := o.all(d.values); err != nil {
		return nil, err
	}
	return o.evaluated(d, d.values)
}

func (c *call) optimized(o *optimizer) (Expression, error) {
	if c.op.optimize != nil {
		return c.op.optimize(o, c)
	}
	if err := o.all(c.args); err != nil {
		return nil, err
	}
	return c.reduced(o, c.params)
}

// inOrder is for operators whose arguments are optimized in another order than theirs.
func inOrder(order ...int) func(*optimizer, *call) (Expression, error) {
	return func(o *optimizer, c *call) (Expression, error) {
		for _, i := range order {
			var err error
			if c.args[i], err = o.expression(c.args[i]); err != nil {
				return nil, err
			}
		}
		return c.reduced(o, c.params)
	}
}

// checkedInOrder is for operators whose constant arguments are checked in another order than theirs.
func checkedInOrder(order ...string) func(*optimizer, *call) (Expression, error) {
	return func(o *optimizer, c *call) (Expression, error) {
		if err := o.all(c.args); err != nil {
			return nil, err
		}
		params := slices.Clone(c.params)
		slices.SortStableFunc(params, func(a, b parameter) int { return slices.Index(order, a.name) - slices.Index(order, b.name) })
		return c.reduced(o, params)
	}
}

// reduced is what a call is when its arguments are optimized. Where some are not constant, the others are checked in the order
// of params.
func (c *call) reduced(o *optimizer, params []parameter) (Expression, error) {
	e, err := o.evaluated(c, c.args)
	if err != nil || isConstant(e) {
		return e, err
	}
	for _, param := range params {
		known, ok := c.argument(param.name).(constant)
		switch {
		case !ok || param.check == nil || !given(known.value):
			continue
		case known.value.IsNullish() && param.nullAhead:
			return constant{null}, nil
		case known.value.IsNullish():
			continue
		}
		if err := param.check(known.value); err != nil {
			return nil, err
		}
	}
	return c, c.joinConstants(o)
}

// argument returns the argument of a name.
func (c *call) argument(name string) Expression {
	return c.args[slices.IndexFunc(c.params, func(p parameter) bool { return p.name == name })]
}

// joining is which constant arguments of an operator are evaluated with one another though other arguments are not constant.
type joining int

const (
	joinsNone     joining = iota
	joinsLeading          // those at the beginning
	joinsAdjacent         // those next to one another
	joinsAll              // all of them, behind the others
)

// joinConstants replaces several constants by one, where the operator lets it.
func (c *call) joinConstants(o *optimizer) error {
	switch c.op.joins {
	case joinsNone:
	case joinsLeading:
		n := 0
		for n < len(c.args) && isConstant(c.args[n]) {
			n++
		}
		return c.join(o, 0, n)
	case joinsAdjacent:
		c.takeInner()
		for i := 0; i < len(c.args); i++ {
			n := i
			for n < len(c.args) && isConstant(c.args[n]) {
				n++
			}
			if err := c.join(o, i, n); err != nil {
				return err
			}
		}
	case joinsAll:
		c.takeInner()
		slices.SortStableFunc(c.args, func(a, b Expression) int { return rankConstant(a) - rankConstant(b) })
		return c.join(o, slices.IndexFunc(c.args, isConstant), len(c.args))
	}
	return nil
}

// takeInner replaces calls of the same operator by their arguments.
func (c *call) takeInner() {
	var all []Expression
	for _, arg := range c.args {
		if inner, ok := arg.(*call); ok && inner.op == c.op && len(inner.args) > 1 {
			all = append(all, inner.args...)
		} else {
			all = append(all, arg)
		}
	}
	c.args = all
}

// join evaluates the arguments from one place up to another, if these are two or more.
func (c *call) join(o *optimizer, from, to int) error {
	if from < 0 || to-from < 2 {
		return nil
	}
	e, err := o.evaluated(&call{op: c.op, args: c.args[from:to]}, c.args[from:to])
	if err == nil {
		c.args = slices.Concat(c.args[:from], []Expression{e}, c.args[to:])
	}
	return err
}

func rankConstant(e Expression) int {
	if isConstant(e) {
		return 1
	}
	return 0
}

// untouched is for operators whose arguments the real server leaves alone until it sees a document.
func untouched(_ *optimizer, c *call) (Expression, error) { return c, nil }

// late is for operators that are evaluated only for a document, even if all their arguments are constant.
func late(o *optimizer, c *call) (Expression, error) { return c, o.all(c.args) }
