package pipeline

import (
	"math"

	"github.com/holdfast-db/holdfast/mongotest/internal/expr"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/bucketAuto/

type bucketAuto struct {
	accumulators
	by    expr.Expression
	n     int
	round *granularity // nil if boundaries are values of the documents
}

func parseBucketAuto(p *parser, _ string, spec Value) (stage, error) {
	if !spec.IsDocument() {
		return nil, mongoerr.Errorf(40240, "The argument to $bucketAuto must be an object, but found type: %s", typeName(spec))
	}
	s := &bucketAuto{}
	output := missing
	for _, f := range query.ObjectOf(spec.Data) {
		if f.Name == "output" {
			if output = f.Value; len(output.Data) == len(query.EmptyDocument) {
				output = missing // as without one
			}
		}
		if err := s.option(p, f); err != nil {
			return nil, err
		}
	}
	if s.by == nil || s.n == 0 {
		return nil, mongoerr.Errorf(40246, "$bucketAuto requires 'groupBy' and 'buckets' to be specified")
	}
	var err error
	if s.accumulators, err = p.bucketOutput(output); err != nil {
		return nil, err
	}
	for _, f := range s.fields {
		if f != nil && !f.Fixed() {
			return nil, mongoerr.Errorf(4544714, "Can't refer to the group key in $bucketAuto")
		}
	}
	return blocking(s.buckets), nil
}

func (s *bucketAuto) option(p *parser, f field) (err error) {
	switch f.Name {
	case "groupBy":
		if !isReference(f.Value) {
			return mongoerr.Errorf(40239,
				"The $bucketAuto 'groupBy' field must be defined as a $-prefixed path or an expression object, but found: %s", f.Value)
		}
		s.by, err = p.expression(f.Value)
	case "buckets":
		err = s.parseBuckets(f.Value)
	case "output":
		if !f.Value.IsDocument() {
			err = mongoerr.Errorf(40244, "The $bucketAuto 'output' field must be an object, but found type: %s", typeName(f.Value))
		}
	case "granularity":
		s.round, err = parseGranularity(f.Value)
	default:
		err = mongoerr.Errorf(40245, "Unrecognized option to $bucketAuto: %s", f.Name)
	}
	return err
}

func (s *bucketAuto) parseBuckets(v Value) error {
	if !v.IsNumber() {
		return mongoerr.Errorf(40241, "The $bucketAuto 'buckets' field must be a numeric value, but found type: %s", typeName(v))
	}
	n, ok := v.Integer()
	if !ok || n != int64(int32(n)) {
		return mongoerr.Errorf(40242, "The $bucketAuto 'buckets' field must be representable as a 32-bit integer, but found %s", spelled(v))
	}
	if n <= 0 {
		return mongoerr.Errorf(40243, "The $bucketAuto 'buckets' field must be greater than 0, but found: %d", n)
	}
	s.n = int(n)
	return nil
}

// keyed is a document with the value it is sorted by.
type keyed struct {
	key Value
	doc []byte
}

func (s *bucketAuto) buckets(r *runner, in stream) ([][]byte, error) {
	var rest []keyed
	for doc, err := range in {
		if err != nil {
			return nil, err
		}
		key, err := r.eval(s.by, doc)
		if err != nil {
			return nil, err
		}
		if key.Missing() {
			key = null
		}
		rest = append(rest, keyed{key, doc})
	}
	if err := query.SortStable(r.Work, rest, func(a, b keyed) int { return r.compare(a.key, b.key) }); err != nil {
		return nil, err
	}
	size := max(1, int(math.Round(float64(len(rest))/float64(s.n))))
	var groups []*bucket
	end := missing // of the last bucket
	for len(rest) > 0 {
		n := min(size, len(rest))
		if len(groups) == s.n-1 {
			n = len(rest)
		}
		limits, n, err := s.limits(r, rest, n, end)
		if err != nil {
			return nil, err
		}
		g, err := s.fill(r, rest[:n], limits)
		if err != nil {
			return nil, err
		}
		groups, rest, end = append(groups, g), rest[n:], limits.max
	}
	return s.closeAll(r, groups)
}

// limits are the boundaries of a bucket.
type limits struct{ min, max Value }

// limits returns the boundaries of a bucket of at least n documents behind one that ends there, and how many it has.
func (s *bucketAuto) limits(r *runner, rest []keyed, n int, end Value) (limits, int, error) {
	if s.round != nil {
		return s.round.limits(rest, n, end)
	}
	for n < len(rest) && r.compare(rest[n].key, rest[n-1].key) == 0 {
		n++
	}
	return limits{rest[0].key, rest[min(n, len(rest)-1)].key}, n, nil
}

// fill makes a bucket of documents.
func (s *bucketAuto) fill(r *runner, docs []keyed, l limits) (*bucket, error) {
	g, err := s.open(r, object{}.Set("min", l.min).Set("max", l.max).Made())
	if err != nil {
		return nil, err
	}
	for _, k := range docs {
		if err := g.add(r, k.doc); err != nil {
			return nil, err
		}
	}
	return g, nil
}
