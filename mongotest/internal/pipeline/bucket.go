package pipeline

import (
	"sort"

	"github.com/holdfast-db/holdfast/mongotest/internal/expr"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/bucket/

type bucketStage struct {
	accumulators
	by         expr.Expression
	boundaries []Value
	fallback   Value // Missing for none
}

func parseBucket(p *parser, _ string, spec Value) (stage, error) {
	if !spec.IsDocument() {
		return nil, mongoerr.Errorf(40201, "Argument to $bucket stage must be an object, but found type: %s.", typeName(spec))
	}
	s := &bucketStage{}
	output := missing
	for _, f := range query.ObjectOf(spec.Data) {
		if f.Name == "output" {
			output = f.Value
		}
		if err := s.option(p, f); err != nil {
			return nil, err
		}
	}
	if s.by == nil || s.boundaries == nil {
		return nil, mongoerr.Errorf(40198, "$bucket requires 'groupBy' and 'boundaries' to be specified.")
	}
	if !s.fallback.Missing() && query.CompareBy(p.Collation, s.fallback, s.boundaries[0]) >= 0 &&
		query.CompareBy(p.Collation, s.fallback, s.boundaries[len(s.boundaries)-1]) < 0 {
		return nil, mongoerr.Errorf(40199,
			"The $bucket 'default' field must be less than the lowest boundary or greater than or equal to the highest boundary.")
	}
	var err error
	if s.accumulators, err = p.bucketOutput(output); err != nil {
		return nil, err
	}
	return blocking(s.buckets), nil
}

// bucketOutput compiles the output of a $bucket or $bucketAuto, a count where none is given.
func (p *parser) bucketOutput(output Value) (accumulators, error) {
	if output.Missing() {
		return p.counting()
	}
	var a accumulators
	for _, f := range query.ObjectOf(output.Data) {
		if err := a.add(p, f); err != nil {
			return a, err
		}
	}
	return a, nil
}

func (s *bucketStage) option(p *parser, f field) (err error) {
	switch f.Name {
	case "groupBy":
		if !isReference(f.Value) {
			return mongoerr.Errorf(40202, "The $bucket 'groupBy' field must be defined as a $-prefixed path or an expression, but found: %s.", f.Value)
		}
		s.by, err = p.expression(f.Value)
	case "boundaries":
		err = s.parseBoundaries(p, f.Value)
	case "default":
		if s.fallback, err = p.constant(f.Value); err == nil && !isConstant(f.Value) {
			err = mongoerr.Errorf(40195, "The $bucket 'default' field must be a constant expression, but found: %s.", f.Value)
		}
	case "output":
		if !f.Value.IsDocument() {
			err = mongoerr.Errorf(40196, "The $bucket 'output' field must be an object, but found type: %s.", typeName(f.Value))
		}
	default:
		err = mongoerr.Errorf(40197, "Unrecognized option to $bucket: %s.", f.Name)
	}
	return err
}

// constant returns the value of an expression that does not look at a document.
func (p *parser) constant(v Value) (Value, error) {
	e, err := p.expression(v)
	if err != nil || !isConstant(v) {
		return missing, err
	}
	return e.Eval(&expr.Env{Root: query.EmptyDocument})
}

func (s *bucketStage) parseBoundaries(p *parser, v Value) error {
	if !v.IsArray() {
		return mongoerr.Errorf(40200, "The $bucket 'boundaries' field must be an array, but found type: %s.", typeName(v))
	}
	for _, e := range query.Elements(v.Data) {
		boundary, err := p.constant(e)
		if err != nil {
			return err
		}
		if !isConstant(e) {
			return mongoerr.Errorf(40191, "The $bucket 'boundaries' field must be an array of constant values, but found value: %s.", e)
		}
		s.boundaries = append(s.boundaries, boundary)
	}
	if n := len(s.boundaries); n < 2 {
		return mongoerr.Errorf(40192, "The $bucket 'boundaries' field must have at least 2 values, but found %d value(s).", n)
	}
	return s.checkBoundaries(p.Collation)
}

func (s *bucketStage) checkBoundaries(c query.Collation) error {
	for i, upper := range s.boundaries[1:] {
		lower := s.boundaries[i]
		if typeName(lower) != typeName(upper) && (!lower.IsNumber() || !upper.IsNumber()) {
			return mongoerr.Errorf(40193,
				"All values in the the 'boundaries' option to $bucket must have the same type. Found conflicting types %s and %s.",
				typeName(lower), typeName(upper))
		}
		if query.CompareBy(c, lower, upper) >= 0 {
			return mongoerr.Errorf(40194, "The 'boundaries' option to $bucket must be sorted, but elements %d and %d are not in ascending order "+
				"(%s is not less than %s).", i, i+1, spelled(lower), spelled(upper))
		}
	}
	return nil
}

func (s *bucketStage) buckets(r *runner, in stream) ([][]byte, error) {
	groups, err := s.grouped(r, in, func(doc []byte) (Value, error) {
		v, err := r.eval(s.by, doc)
		if err != nil {
			return missing, err
		}
		return s.place(r, v)
	})
	if err != nil {
		return nil, err
	}
	byID, err := query.ParseSort(object{}.Set("_id", query.Int32(1)).Bytes())
	if err != nil {
		return nil, err
	}
	return groups, byID.Collated(r.Collation).Order(r.Work, groups)
}

// place returns the lower boundary of the bucket that a value belongs to.
func (s *bucketStage) place(r *runner, v Value) (Value, error) {
	above := sort.Search(len(s.boundaries), func(i int) bool { return r.compare(v, s.boundaries[i]) < 0 })
	if above > 0 && above < len(s.boundaries) {
		return s.boundaries[above-1], nil
	}
	if s.fallback.Missing() {
		return missing, mongoerr.Errorf(40066, "$switch could not find a matching branch for an input, and no default was specified.")
	}
	return s.fallback, nil
}
