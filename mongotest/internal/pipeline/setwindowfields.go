package pipeline

import (
	"errors"

	"github.com/holdfast-db/holdfast/mongotest/internal/expr"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/setWindowFields/

type windowStage struct {
	by     expr.Expression // nil for one partition
	order  *query.Sort     // nil for none
	sorted bool            // there is a sortBy, which may be empty
	keys   []fieldPath     // of the order
	rising bool            // the first key is ascending
	output []windowField
	paths  *shape // of the output
}

// windowField is one field to set.
type windowField struct {
	path     fieldPath
	function windowFunction
}

// windowFunction computes its value for each document of a partition.
type windowFunction interface {
	// begin returns what gives the values for the documents, which are asked for in turn.
	begin(r *runner, part *partition) windowValues
}

// windowValues gives the value for the i-th document. It evaluates no more than that needs: an error of a document is met when
// the real server meets it.
type windowValues func(i int) (Value, error)

// partition is the documents that window functions look at, in order.
type partition struct {
	flaw    error // why there is no such partition
	docs    [][]byte
	key     fieldPath // of the order; nil for none
	keys    []Value   // of the documents, nil if none was asked for yet
	checked map[string]error
}

// keyOf returns what a document is sorted by.
func (p *partition) keyOf(i int) Value {
	if p.keys == nil {
		p.keys = make([]Value, len(p.docs))
		for j, doc := range p.docs {
			p.keys[j] = p.key.get(doc)
		}
	}
	return p.keys[i]
}

// check returns why the keys are not those of windows by distance, in a unit or without one.
func (p *partition) check(w *window) error {
	err, known := p.checked[w.unit]
	for i := 0; !known && err == nil && i < len(p.docs); i++ {
		err = w.checkKey(p.keyOf(i))
	}
	if !known {
		if p.checked == nil {
			p.checked = make(map[string]error)
		}
		p.checked[w.unit] = err
	}
	return err
}

var windowOptions = []option{
	{name: "partitionBy"}, {name: "sortBy", types: ofObject}, {name: "output", types: ofObject, required: true},
}

func parseSetWindowFields(p *parser, name string, spec Value) (stage, error) {
	if !spec.IsDocument() {
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "the %s stage specification must be an object, found %s", name, typeName(spec))
	}
	fields, err := parseOptions(name, spec.Data, windowOptions)
	if err != nil {
		return nil, err
	}
	s := &windowStage{paths: newShape(keepOthers)}
	if err := s.parseOrder(p.Collation, fields.Get("sortBy")); err != nil {
		return nil, err
	}
	if by := fields.Get("partitionBy"); !by.Missing() {
		if s.by, err = p.partitionKey(by); err != nil {
			return nil, err
		}
	}
	for _, f := range query.ObjectOf(fields.Get("output").Data) {
		if err := s.field(p, f); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// partitionKey compiles an expression that is optimized as soon as it is parsed.
func (p *parser) partitionKey(v Value) (expr.Expression, error) {
	e, err := expr.Parse(v, p.scope)
	var refused *mongoerr.Error
	if errors.As(err, &refused) && refused.Constant {
		return nil, mongoerr.Errorf(refused.Code, "Failed to optimize partitionBy expression :: caused by :: %s", refused.Message)
	}
	return e, err
}

func (s *windowStage) parseOrder(c query.Collation, order Value) (err error) {
	if order.Missing() {
		return nil
	}
	s.sorted = true
	if s.order, err = sortKeys(order.Data); err != nil {
		return err
	}
	s.order = s.order.Collated(c)
	for i, f := range query.ObjectOf(order.Data) {
		path, err := query.FieldPath(f.Name)
		if err != nil {
			return err
		}
		s.rising = s.rising || i == 0 && f.Value.AsFloat64() > 0
		s.keys = append(s.keys, path)
	}
	return nil
}

func (s *windowStage) field(p *parser, f field) error {
	path, err := query.FieldPath(f.Name)
	if err != nil {
		return err
	}
	if _, _, found := s.paths.collision(path); found {
		return mongoerr.Errorf(6307900, "$setWindowFields 'output' specification contains two conflicting paths")
	}
	s.paths.add(path, nil)
	fn, err := s.parseFunction(p, f)
	s.output = append(s.output, windowField{path, fn})
	return err
}

// run needs all documents before it returns the first, but computes the fields of one no sooner than it is asked for.
func (s *windowStage) run(r *runner, in stream) stream {
	return func(yield func([]byte, error) bool) {
		parts, err := s.partitions(r, in)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, part := range parts {
			if part.flaw != nil {
				yield(nil, part.flaw)
				return
			}
			for doc, err := range s.setIn(r, part) {
				if !yield(doc, err) || err != nil {
					return
				}
			}
		}
	}
}

// setIn sets the fields in the documents of one partition, in one document after the other.
func (s *windowStage) setIn(r *runner, part *partition) stream {
	functions, values, set := make([]windowValues, len(s.output)), make([]fixed, len(s.output)), newShape(keepOthers)
	for i, f := range s.output {
		functions[i] = f.function.begin(r, part)
		set.add(f.path, &values[i])
	}
	return func(yield func([]byte, error) bool) {
		for i, doc := range part.docs {
			var err error
			for j := 0; j < len(values) && err == nil; j++ {
				values[j].value, err = functions[j](i)
			}
			if err == nil {
				doc, err = set.apply(r, doc)
			}
			if err == nil {
				doc = query.KeepMeta(doc, part.docs[i])
			}
			if !yield(doc, err) || err != nil {
				return
			}
		}
	}
}

// fixed is an expression of a known value.
type fixed struct{ value Value }

// Eval returns the value.
func (f *fixed) Eval(*expr.Env) (Value, error) { return f.value, nil }

// partitions splits documents by the value of partitionBy, in its order, and sorts each part.
func (s *windowStage) partitions(r *runner, in stream) ([]*partition, error) {
	var keyedDocs []keyed
	for doc, err := range in {
		if err != nil {
			return nil, err
		}
		key, err := s.partitionKey(r, doc)
		if err != nil {
			return nil, err
		}
		if err := s.order.Check(doc); err != nil {
			return nil, err
		}
		keyedDocs = append(keyedDocs, keyed{key, doc})
	}
	if err := s.sort(r, keyedDocs); err != nil {
		return nil, err
	}
	var parts []*partition
	for i, k := range keyedDocs {
		if k.key.IsArray() {
			flaw := mongoerr.Errorf(mongoerr.TypeMismatch, "An expression used to partition cannot evaluate to value of type array")
			return append(parts, &partition{flaw: flaw}), nil
		}
		if i == 0 || r.compare(k.key, keyedDocs[i-1].key) != 0 {
			parts = append(parts, &partition{key: s.key()})
		}
		last := parts[len(parts)-1]
		last.docs = append(last.docs, k.doc)
	}
	return parts, nil
}

// sort sorts by the partitions' keys, and in a partition by the order.
func (s *windowStage) sort(r *runner, docs []keyed) error {
	type ordered struct {
		keyed
		by []Value
	}
	list := make([]ordered, len(docs))
	for i, k := range docs {
		list[i].keyed = k
		if s.order != nil {
			list[i].by, _ = s.order.Key(k.doc)
		}
	}
	err := query.SortStable(r.Work, list, func(a, b ordered) int {
		if c := r.compare(a.key, b.key); c != 0 || s.order == nil {
			return c
		}
		return s.order.CompareKeys(a.by, b.by)
	})
	for i, k := range list {
		docs[i] = k.keyed
	}
	return err
}

func (s *windowStage) key() fieldPath {
	if len(s.keys) == 0 {
		return nil
	}
	return s.keys[0]
}

func (s *windowStage) partitionKey(r *runner, doc []byte) (Value, error) {
	if s.by == nil {
		return null, nil
	}
	v, err := r.eval(s.by, doc)
	return orNull(v), err
}
