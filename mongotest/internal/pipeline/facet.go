package pipeline

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/facet/

type facet struct {
	names     []string
	pipelines [][]step
}

func surveyFacet(p *parser, _ string, spec Value) error {
	if !spec.IsDocument() || len(query.ObjectOf(spec.Data)) == 0 {
		return mongoerr.Errorf(40169, "the $facet specification must be a non-empty object, but found: %s", written("$facet", spec))
	}
	fields := query.ObjectOf(spec.Data)
	for _, f := range fields {
		if err := checkFacet(f); err != nil {
			return err
		}
	}
	for _, f := range fields {
		if err := p.surveyInner(f.Value); err != nil {
			return err
		}
	}
	return nil
}

func checkFacet(f field) error {
	if err := query.CheckPathName(f.Name); err != nil {
		return because("$facet pipeline names must follow the naming rules of field path expressions.", err)
	}
	if !f.Value.IsArray() {
		return mongoerr.Errorf(40170, "arguments to $facet must be arrays, %s is type %s", f.Name, typeName(f.Value))
	}
	for i, e := range query.ObjectOf(f.Value.Data) {
		if !e.Value.IsDocument() {
			return mongoerr.Errorf(40171,
				"elements of arrays in $facet spec must be non-empty objects, %s argument contained an element of type %s: %d: %s",
				f.Name, typeName(e.Value), i, e.Value)
		}
	}
	return nil
}

func parseFacet(p *parser, _ string, spec Value) (stage, error) {
	s := &facet{}
	for _, f := range query.ObjectOf(spec.Data) {
		var steps []step
		err := p.inside(func(inner *parser) (err error) {
			steps, err = inner.inner(p.Coll, nil, f.Value)
			return err
		})
		if err != nil {
			return nil, err
		}
		if err := p.checkFacetStages(steps); err != nil {
			return nil, err
		}
		s.names, s.pipelines = append(s.names, f.Name), append(s.pipelines, steps)
	}
	return s, nil
}

func (p *parser) checkFacetStages(steps []step) error {
	for _, s := range steps {
		name := aloneWithin(s)
		if s.alone {
			name = s.name
		}
		if name != "" {
			return mongoerr.Errorf(40600, "%s is not allowed to be used within a $facet stage", name)
		}
	}
	if len(steps) > 0 && searchesText(steps[0]) {
		return query.NoMeta(query.TextScore)
	}
	return p.checkOrder(steps)
}

// aloneWithin names a stage in the pipelines of a stage, at any depth, that no $facet may have; "" if there is none.
func aloneWithin(s step) string {
	outer, ok := s.stage.(interface{ steps() []step })
	if !ok {
		return ""
	}
	for _, inner := range outer.steps() {
		if inner.alone && inner.name != "$documents" {
			return inner.name + " inside of " + s.name
		}
		if name := aloneWithin(inner); name != "" {
			return name
		}
	}
	return ""
}

func (s *facet) run(r *runner, in stream) stream {
	return deferred(func() ([][]byte, error) {
		docs, err := collect(in)
		if err != nil {
			return nil, err
		}
		out := make(object, len(s.names))
		for i, name := range s.names {
			found, err := collect(chain(r, s.pipelines[i], streamOf(docs)))
			if err != nil {
				return nil, err
			}
			out[i] = field{Name: name, Value: documents(found)}
		}
		return [][]byte{out.Made().Data}, nil
	})
}
