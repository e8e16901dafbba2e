package expr

import (
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// notGiven stands for an optional argument that is not written, which is not the same as one that leads to no field.
var notGiven = Value{Type: bson.Type(0x80)}

func given(v Value) bool { return v.Type != notGiven.Type }

// otherwise returns the value, or another if it is not given.
func otherwise(v, instead Value) Value {
	if given(v) {
		return v
	}
	return instead
}

// refusal is the code and text of an error; the text may hold the operator's name (%[1]s) and a detail (%[2]s).
type refusal struct {
	code   int32
	format string
}

func (r refusal) of(op, detail string) error {
	return mongoerr.Errorf(r.code, "%s", fmt.Sprintf(r.format+"%.0[1]s%.0[2]s", op, detail))
}

// parameter is a named argument. It must be written if absent is set. A constant one is checked ahead of time, and makes the
// result null ahead of time if it is null and nullAhead is set.
type parameter struct {
	name      string
	absent    refusal
	check     func(v Value) error
	nullAhead bool
}

// signature is how an operator takes named arguments. Its call gets them in the order of the parameters.
type signature struct {
	notObject refusal // the detail is the type found
	unknown   refusal // the detail is the name found
	params    []parameter
	backwards bool // the real server parses the last parameter first
}

func (s signature) parse(p *parser, op *operator, v Value) (Expression, error) {
	if !v.IsDocument() {
		return nil, s.notObject.of(op.name, typeName(v))
	}
	fields, err := s.ordered(op.name, v)
	if err != nil {
		return nil, err
	}
	args := make([]Expression, len(s.params))
	for _, f := range fields {
		at := s.index(f.Name)
		if at < 0 {
			return nil, s.unknown.of(op.name, f.Name)
		}
		if args[at], err = p.expression(f.Value); err != nil {
			return nil, err
		}
	}
	for i, arg := range args {
		if arg != nil {
			continue
		}
		if s.params[i].absent.code != 0 {
			return nil, s.params[i].absent.of(op.name, s.params[i].name)
		}
		args[i] = constant{notGiven}
	}
	return &call{op: op, args: args, params: s.params}, nil
}

// ordered returns the fields in the order of parsing; for one that is not the order of writing it checks all names first.
func (s signature) ordered(name string, v Value) (object, error) {
	fields := query.ObjectOf(v.Data)
	if !s.backwards {
		return fields, nil
	}
	for _, f := range fields {
		if s.index(f.Name) < 0 {
			return nil, s.unknown.of(name, f.Name)
		}
	}
	for _, param := range s.params {
		if param.absent.code != 0 && query.Lookup(v.Data, param.name).Missing() {
			return nil, param.absent.of(name, param.name)
		}
	}
	slices.SortStableFunc(fields, func(a, b field) int { return s.index(b.Name) - s.index(a.Name) })
	return fields, nil
}

func (s signature) index(name string) int {
	for i, param := range s.params {
		if param.name == name {
			return i
		}
	}
	return -1
}

// eachArg evaluates the arguments in turn until use is done or fails.
func eachArg(env *Env, args []Expression, use func(v Value) (done bool, err error)) error {
	for _, arg := range args {
		v, err := arg.Eval(env)
		if err != nil {
			return err
		}
		if done, err := use(v); done || err != nil {
			return err
		}
	}
	return nil
}

// taker is what becomes of one argument.
type taker struct {
	arg  int
	take func(v Value) error
}

// inTurn evaluates arguments one by one, in the order of the takers. It ends at the first that is null, and at the first that
// its taker refuses.
func inTurn(env *Env, args []Expression, takers ...taker) (isNull bool, err error) {
	for _, t := range takers {
		v, err := args[t.arg].Eval(env)
		if err != nil {
			return false, err
		}
		if v.IsNullish() {
			return true, nil
		}
		if err := t.take(v); err != nil {
			return false, err
		}
	}
	return false, nil
}

// into is a taker's function that reads a value into a variable.
func into[T any](at *T, read func(Value) (T, error)) func(Value) error {
	return func(v Value) (err error) {
		*at, err = read(v)
		return err
	}
}

// asIs takes a value of any type.
func asIs(v Value) (Value, error) { return v, nil }

// escapePercent lets a text stand in a refusal's format.
func escapePercent(s string) string { return strings.ReplaceAll(s, "%", "%%") }
