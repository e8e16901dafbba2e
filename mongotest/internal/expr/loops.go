package expr

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// loop is what $map, $filter and $reduce share: an array, a body, and variables for the element and its index.
type loop struct {
	input   Expression
	body    Expression
	element int
	index   int
}

// loopNames are the arguments that name the loop's variables.
type loopNames struct{ as, index Value }

// variables returns the scope of the loop's body, which sees the element and its index.
func (l *loop) variables(p *parser, names loopNames) (*Scope, error) {
	element, index := "this", ""
	if !names.as.Missing() {
		element = string(names.as.Text())
		if err := checkVariable(element); err != nil {
			return nil, err
		}
	}
	if !names.index.Missing() {
		index = string(names.index.Text())
		if err := checkVariable(index); err != nil {
			return nil, err
		}
		if index == element {
			return nil, mongoerr.Errorf(9375801, "'as' and 'arrayIndexAs' cannot have the same name")
		}
	}
	scope := p.scope.with(element)
	l.element, l.index = scope.slot, scope.slot+1
	if index == "" {
		index = "IDX"
	}
	return scope.with(index), nil
}

// each evaluates the body for the elements in turn until use is done. It reports whether the input is null.
func (l *loop) each(env *Env, elements []Value, use func(element, result Value) bool) error {
	for i, e := range elements {
		env.bind(l.element, e)
		env.bind(l.index, query.Int32(int32(i)))
		v, err := l.body.Eval(env)
		if err != nil {
			return err
		}
		if use(e, v) {
			return nil
		}
	}
	return nil
}

// elements evaluates the input; ok is false if it is null.
func (l *loop) elements(env *Env, refuse func(v Value) error) (elements []Value, ok bool, err error) {
	v, err := l.input.Eval(env)
	if err != nil || v.IsNullish() {
		return nil, false, err
	}
	if !v.IsArray() {
		return nil, false, refuse(v)
	}
	return env.elements(v), true, nil
}

// named reads a document of arguments by their names.
func named(v Value, notObject, unknown refusal, names ...string) (map[string]Value, error) {
	if !v.IsDocument() {
		return nil, notObject.of("", typeName(v))
	}
	args := make(map[string]Value)
	for _, f := range query.ObjectOf(v.Data) {
		if !has(names, f.Name) {
			return nil, unknown.of("", f.Name)
		}
		args[f.Name] = f.Value
	}
	return args, nil
}

func has(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// loopParts are the refusals of a loop without an input or a body.
type loopParts struct {
	input    refusal
	bodyName string
	body     refusal
}

func (l *loop) parse(p *parser, args map[string]Value, parts loopParts) error {
	if args["input"].Missing() {
		return parts.input.of("", "")
	}
	if args[parts.bodyName].Missing() {
		return parts.body.of("", "")
	}
	scope, err := l.variables(p, loopNames{args["as"], args["arrayIndexAs"]})
	if err != nil {
		return err
	}
	if l.body, err = p.within(scope, args[parts.bodyName]); err != nil {
		return err
	}
	l.input, err = p.expression(args["input"])
	return err
}

func (l *loop) optimize(o *optimizer) (err error) {
	if l.input, err = o.expression(l.input); err != nil {
		return err
	}
	l.body, err = o.expression(l.body)
	return err
}
