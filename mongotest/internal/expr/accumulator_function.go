package expr

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/javascript"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/accumulator/

// scripted is an $accumulator. Its merge joins the states of shards and of parts on a disk, of which there are none here.
type scripted struct {
	init, accumulate, merge, finalize string
	initArgs                          Expression
}

// scripted compiles {init, initArgs, accumulate, accumulateArgs, merge, finalize, lang}.
func (p *parser) scripted(name string, v Value) (*Accumulator, error) {
	if !v.IsDocument() {
		return nil, mongoerr.Errorf(4544703, "$accumulator expects an object as an argument; found: %s", typeName(v))
	}
	s := &scripted{initArgs: constant{array(nil)}}
	a := &Accumulator{script: s}
	for _, f := range query.ObjectOf(v.Data) {
		if err := s.field(p, a, f); err != nil {
			return nil, err
		}
	}
	for _, required := range []struct {
		name  string
		given bool
		code  int32
	}{
		{"init", s.init != "", 4544707},
		{"accumulate", s.accumulate != "", 4544708},
		{"merge", s.merge != "", 4544709},
		{"accumulateArgs", a.input != nil, 4544710},
	} {
		if !required.given {
			return nil, mongoerr.Errorf(required.code, "%s missing required argument '%s'", name, required.name)
		}
	}
	return a, nil
}

func (s *scripted) field(p *parser, a *Accumulator, f field) (err error) {
	switch f.Name {
	case "init":
		s.init, err = accumulatorCode(f)
	case "accumulate":
		s.accumulate, err = accumulatorCode(f)
	case "merge":
		s.merge, err = accumulatorCode(f)
	case "finalize":
		s.finalize, err = accumulatorCode(f)
	case "initArgs":
		s.initArgs, err = p.expression(f.Value)
	case "accumulateArgs":
		a.input, err = p.expression(f.Value)
	case "lang":
		if !f.Value.IsString() {
			return mongoerr.Errorf(4544704, "$accumulator lang must be a string; found: %s", typeName(f.Value))
		}
		if string(f.Value.Text()) != "js" {
			return mongoerr.Errorf(4544705, "$accumulator only supports lang: 'js'")
		}
	default:
		return mongoerr.Errorf(4544706, "$accumulator got an unexpected field: %s", f.Name)
	}
	return err
}

func accumulatorCode(f field) (string, error) {
	if !isCode(f.Value) {
		return "", mongoerr.Errorf(4544702, "$accumulator '%s' must be a String or Code", f.Name)
	}
	return codeOf(f.Value), nil
}

// start calls init for a new group, with arguments that are computed from the group's _id.
func (s *scripted) start(env *Env) (collector, error) {
	args, err := s.initArgs.Eval(env)
	if err != nil {
		return nil, err
	}
	if !args.IsArray() {
		return nil, mongoerr.Errorf(4544711, "$accumulator initArgs must evaluate to an array: %s", spelled(args))
	}
	g := &scriptedGroup{engine: env.Engine(), of: s}
	g.state, err = g.call(s.init, query.Elements(query.PlainValue(args).Data)...)
	return g, err
}

// scriptedGroup is the state of an $accumulator for one group.
type scriptedGroup struct {
	engine *javascript.Engine
	of     *scripted
	state  Value
	final  Value
}

func (g *scriptedGroup) call(code string, args ...Value) (Value, error) {
	f, err := g.engine.Function(code)
	if err != nil {
		return missing, err
	}
	return f.Call(missing, args...)
}

func (g *scriptedGroup) add(v Value) (err error) {
	if !v.IsArray() {
		return mongoerr.Errorf(4544712, "$accumulator accumulateArgs must evaluate to an array: %s", spelled(v))
	}
	g.state, err = g.call(g.of.accumulate, append([]Value{g.state}, query.Elements(query.PlainValue(v).Data)...)...)
	return err
}

// finish calls finalize, which does not change the state.
func (g *scriptedGroup) finish(*query.Work) (err error) {
	if g.final = g.state; g.of.finalize != "" {
		g.final, err = g.call(g.of.finalize, g.state)
	}
	return err
}

func (g *scriptedGroup) result() Value { return g.final }
