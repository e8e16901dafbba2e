package pipeline

import (
	"strings"

	"github.com/holdfast-db/holdfast/mongotest/internal/expr"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/group/

// accumulators are the computed fields of a group, by name.
type accumulators struct {
	names  []string
	fields []*expr.Accumulator
}

// add compiles {name: {$accumulator: input}}.
func (a *accumulators) add(p *parser, f field) error {
	inner := query.ObjectOf(f.Value.Data)
	switch {
	case strings.Contains(f.Name, "."):
		return mongoerr.Errorf(40235, "The field name '%s' cannot contain '.'", f.Name)
	case strings.HasPrefix(f.Name, "$"):
		return mongoerr.Errorf(40236, "The field name '%s' cannot be an operator name", f.Name)
	case f.Name == "" && p.has(version.Of(8, 3, 0)):
		return mongoerr.Errorf(12116300, "The field name '' cannot be an empty string")
	case !f.Value.IsDocument() || len(inner) == 0 || !strings.HasPrefix(inner[0].Name, "$"):
		return mongoerr.Errorf(40234, "The field '%s' must be an accumulator object", f.Name)
	case len(inner) > 1:
		return mongoerr.Errorf(40238, "The field '%s' must specify one accumulator: %s", f.Name, written(f.Name, f.Value))
	}
	acc, err := p.accumulator(expr.ParseAccumulator, inner[0].Name, inner[0].Value)
	a.names, a.fields = append(a.names, f.Name), append(a.fields, acc)
	return err
}

// bucket is one group while documents are added to it.
type bucket struct {
	id      Value
	states  []*expr.State
	sparing bool // a complete accumulator is not evaluated any more
}

func (a *accumulators) open(r *runner, id Value) (*bucket, error) {
	b := &bucket{id: id}
	r.env.Root = query.EmptyDocument
	if id.IsDocument() {
		r.env.Root = id.Data
	}
	for _, f := range a.fields {
		state, err := f.New(r.env)
		if err != nil {
			return nil, err
		}
		b.states = append(b.states, state)
	}
	return b, nil
}

func (b *bucket) add(r *runner, doc []byte) error {
	r.env.Root = doc
	for _, s := range b.states {
		if b.sparing && s.Complete() {
			continue
		}
		if err := s.Add(r.env); err != nil {
			return err
		}
	}
	return nil
}

func (a *accumulators) close(r *runner, b *bucket) ([]byte, error) {
	var out query.Builder
	out.Set("_id", b.id)
	for i, s := range b.states {
		v, err := s.Result(r.Work)
		if err != nil {
			return nil, err
		}
		out.Set(a.names[i], v)
	}
	return out.Made().Data, nil
}

type group struct {
	accumulators
	id expr.Expression
}

func parseGroup(p *parser, _ string, spec Value) (stage, error) {
	if !spec.IsDocument() {
		return nil, mongoerr.Errorf(15947, "a group's fields must be specified in an object")
	}
	s := &group{}
	after := p.late() // the _id is optimized first, wherever it is written
	for _, f := range query.ObjectOf(spec.Data) {
		var err error
		switch f.Name {
		case "_id":
			s.id, err = p.groupID(f.Value)
		case "$doingMerge", "$willBeMerged":
		default:
			err = s.add(after, f)
		}
		if err != nil {
			return nil, err
		}
	}
	p.fails(*after.failing)
	if s.id == nil {
		return nil, mongoerr.Errorf(15955, "a group specification must include an _id")
	}
	return blocking(s.groups), nil
}

func (p *parser) groupID(v Value) (expr.Expression, error) {
	if !v.IsDocument() || isCall(v) {
		return p.expression(v)
	}
	fields := query.ObjectOf(v.Data)
	for _, f := range fields {
		if f.Value.IsNumber() || isBool(f.Value) {
			return nil, mongoerr.Errorf(17390, "$group does not support inclusion-style expressions")
		}
	}
	e, err := p.expression(v)
	if err != nil || len(fields) != 1 {
		return e, err
	}
	e, err = p.expression(fields[0].Value)
	return singleField{fields[0].Name, e}, err
}

// singleField is an _id that is a document of one field: that is null where its value leads nowhere.
type singleField struct {
	name  string
	value expr.Expression
}

// Eval returns the document.
func (s singleField) Eval(env *expr.Env) (Value, error) {
	v, err := s.value.Eval(env)
	return object{}.Set(s.name, orNull(v)).Made(), err
}

// groups returns one document for each value of the _id, in the order in which they come up.
func (s *group) groups(r *runner, in stream) ([][]byte, error) {
	return s.grouped(r, in, func(doc []byte) (Value, error) {
		v, err := r.eval(s.id, doc)
		return orNull(v), err
	})
}

// grouped puts each document into the group of its key.
func (a *accumulators) grouped(r *runner, in stream, key func(doc []byte) (Value, error)) ([][]byte, error) {
	var groups []*bucket
	known := make(map[string]*bucket)
	for doc, err := range in {
		if err != nil {
			return nil, err
		}
		id, err := key(doc)
		if err != nil {
			return nil, err
		}
		k := string(r.key(nil, id))
		g := known[k]
		if g == nil {
			if g, err = a.open(r, id); err != nil {
				return nil, err
			}
			g.sparing = true
			known[k] = g
			groups = append(groups, g)
		}
		if err := g.add(r, doc); err != nil {
			return nil, err
		}
	}
	return a.closeAll(r, groups)
}

func (a *accumulators) closeAll(r *runner, groups []*bucket) ([][]byte, error) {
	out := make([][]byte, len(groups))
	for i, g := range groups {
		var err error
		if out[i], err = a.close(r, g); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// counting is the only accumulator where none is given.
func (p *parser) counting() (accumulators, error) {
	var a accumulators
	return a, a.add(p, field{Name: "count", Value: object{}.Set("$sum", query.Int32(1)).Document()})
}
