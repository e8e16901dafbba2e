package expr

import (
	"slices"

	"github.com/holdfast-db/holdfast/mongotest/internal/javascript"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// Expression is a compiled expression.
type Expression interface {
	// Eval returns the expression's value for one document, a Missing one where it leads to no field. Errors are of type
	// *mongoerr.Error.
	Eval(env *Env) (Value, error)
}

// Env is what an expression may look at for one document.
type Env struct {
	Root        []byte         // the document, $$ROOT
	Now         int64          // $$NOW in milliseconds since the Unix epoch
	ClusterTime Value          // $$CLUSTER_TIME; Missing where there is none
	Bare        bool           // neither $$NOW nor $$CLUSTER_TIME has a value
	Rand        func() float64 // numbers from 0 to 1 for $rand, never 1
	NewID       func() [12]byte
	Vars        []Value // the variables of the Scope that the expression was compiled with, in its order
	Work        *query.Work
	Scripting   Scripting       // of the command; nil where there is none
	Collation   query.Collation // by which strings are compared; nil if by their bytes

	engine    *javascript.Engine
	documents memory[map[string]Value]
	arrays    memory[[]Value]
}

// maxText is from which length on no string is made: the real server's limit.
const maxText = 16 << 20

// checkText refuses a string that is too long.
func checkText(length int) error {
	if length < maxText {
		return nil
	}
	return mongoerr.Errorf(mongoerr.BSONObjectTooLarge, "RCString too large. Requires size=%d < limit=%d", length, maxText)
}

// maxValue bounds the size of a value, which repeated concatenation reaches fast: the real server's limit for a document
// in the making.
const maxValue = 64 << 20

// pay counts a value that was evaluated, and refuses it where it is too much.
func (e *Env) pay(v Value) (Value, error) {
	n := len(v.Data)
	if v.IsString() {
		if err := checkText(n - 5); err != nil {
			return missing, err
		}
	}
	if n > maxValue {
		return missing, mongoerr.Errorf(mongoerr.BSONObjectTooLarge,
			"BSONObj size: %d (0x%X) is invalid. Size must be between 0 and %d(64MB)", n, n, maxValue)
	}
	return v, e.Work.Bytes(n)
}

// bind sets a variable.
func (e *Env) bind(slot int, v Value) {
	for len(e.Vars) <= slot {
		e.Vars = append(e.Vars, missing)
	}
	e.Vars[slot] = v
}

func (e *Env) variable(slot int) Value {
	switch slot {
	case slotRoot:
		return query.Document(e.Root)
	case slotNow:
		return date(e.Now)
	case slotClusterTime:
		return e.ClusterTime
	case slotRemove, slotAbsent:
		return missing
	}
	if slot < len(e.Vars) {
		return e.Vars[slot]
	}
	return missing
}

// constant is a value known when the expression is compiled.
type constant struct{ value Value }

func (c constant) Eval(env *Env) (Value, error) { return env.pay(c.value) }

// path is a field of a variable, or the variable itself where no names follow.
type path struct {
	name  string // the variable's
	slot  int
	names []string
}

func (p *path) Eval(env *Env) (Value, error) {
	v := env.variable(p.slot)
	absent := p.slot == slotClusterTime && v.Missing() || p.slot == slotAbsent
	if absent || env.Bare && (p.slot == slotNow || p.slot == slotClusterTime) {
		return missing, mongoerr.Errorf(51144, "Builtin variable '$$%s' is not available", p.name)
	}
	return env.pay(env.follow(v, p.names))
}

// follow returns the value that the names lead to; in an array it collects what they lead to in each document of it.
func (e *Env) follow(v Value, names []string) Value {
	for ; len(names) > 0 && v.IsDocument(); names = names[1:] {
		v = e.lookup(v.Data, names[0])
	}
	switch {
	case len(names) == 0:
		return v
	case v.IsArray():
		return followEach(v, names)
	}
	return missing
}

func follow(v Value, names []string) Value {
	switch {
	case len(names) == 0:
		return v
	case v.IsDocument():
		return follow(query.Lookup(v.Data, names[0]), names[1:])
	case v.IsArray():
		return followEach(v, names)
	}
	return missing
}

func followEach(v Value, names []string) Value {
	found := []Value{}
	for _, e := range query.Elements(v.Data) {
		if !e.IsDocument() {
			continue
		}
		if e = follow(e, names); !e.Missing() {
			found = append(found, e)
		}
	}
	return array(found)
}

// list is an array of expressions.
type list []Expression

func (l list) Eval(env *Env) (Value, error) {
	values, err := evalAll(env, l)
	if err != nil {
		return missing, err
	}
	return env.pay(array(values))
}

func evalAll(env *Env, expressions []Expression) ([]Value, error) {
	values := make([]Value, len(expressions))
	for i, e := range expressions {
		v, err := e.Eval(env)
		if err != nil {
			return nil, err
		}
		values[i] = v
	}
	return values, nil
}

func evalBackwards(env *Env, expressions []Expression) ([]Value, error) {
	values := make([]Value, len(expressions))
	for i, e := range slices.Backward(expressions) {
		v, err := e.Eval(env)
		if err != nil {
			return nil, err
		}
		values[i] = v
	}
	return values, nil
}

// document is a document of expressions.
type document struct {
	names  []string
	values []Expression
}

func (d *document) Eval(env *Env) (Value, error) {
	values, err := evalAll(env, d.values)
	if err != nil {
		return missing, err
	}
	var b query.Builder
	for i, name := range d.names {
		b.Set(name, values[i])
	}
	return env.pay(b.Made())
}

// call applies an operator to its arguments.
type call struct {
	op     *operator
	args   []Expression
	params []parameter // what the arguments are, if they have names
}

func (c *call) Eval(env *Env) (Value, error) {
	v, err := c.eval(env)
	if err != nil {
		return missing, err
	}
	return env.pay(v)
}

func (c *call) eval(env *Env) (Value, error) {
	if c.op.lazy != nil {
		return c.op.lazy(env, c.args)
	}
	evaluate := evalAll
	if c.op.rightFirst {
		evaluate = evalBackwards
	}
	args, err := evaluate(env, c.args)
	if err != nil {
		return missing, err
	}
	if c.op.long != nil {
		return c.op.long(env, args)
	}
	return c.op.apply(args)
}
