package pipeline

import (
	"slices"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/sort/

func parseSort(p *parser, _ string, spec Value) (stage, error) {
	if !spec.IsDocument() {
		return nil, mongoerr.Errorf(15973, "the $sort key specification must be an object")
	}
	keys, err := sortKeys(spec.Data)
	if err != nil {
		return nil, err
	}
	if keys == nil {
		return nil, mongoerr.Errorf(15976, "$sort stage must have at least one sort key")
	}
	keys = keys.Collated(p.Collation)
	return &sorting{keys}, nil
}

// sorting is a $sort.
type sorting struct{ keys *query.Sort }

func (s *sorting) run(r *runner, in stream) stream {
	return blocking(s.sorted).run(r, in)
}

// SortByID returns a $sort by _id alone behind nothing but $matches, nil if there is none.
func (p *Pipeline) SortByID() *query.Sort {
	for _, step := range p.steps {
		if _, is := step.stage.(*match); is {
			continue
		}
		if s, is := step.stage.(*sorting); is && s.keys.ByID() != 0 {
			return s.keys
		}
		return nil
	}
	return nil
}

// InOrder is the pipeline without its first $sort, for documents that come in its order.
func (p *Pipeline) InOrder() *Pipeline {
	i := slices.IndexFunc(p.steps, func(s step) bool { _, is := s.stage.(*sorting); return is })
	rest := *p
	rest.steps = slices.Delete(slices.Clone(p.steps), i, i+1)
	return &rest
}

// sorted sorts documents; not all can be.
func (s *sorting) sorted(r *runner, in stream) ([][]byte, error) {
	var docs [][]byte
	for doc, err := range in {
		if err == nil {
			err = s.keys.Check(doc)
		}
		if err == nil {
			err = r.Work.Bytes(len(doc))
		}
		if err != nil {
			return nil, err
		}
		docs = append(docs, doc)
	}
	return docs, s.keys.Order(r.Work, docs)
}

// sortKeys compiles a sort order; nil for an empty one.
func sortKeys(spec []byte) (*query.Sort, error) {
	var keys object
	for _, f := range query.ObjectOf(spec) {
		v := f.Value
		if !v.IsDocument() {
			sign, err := sortSign(f)
			if err != nil {
				return nil, err
			}
			v = query.Int32(sign)
		}
		if _, err := query.FieldPath(f.Name); err != nil {
			return nil, err
		}
		keys = append(keys, field{Name: f.Name, Value: v})
	}
	return query.ParseSort(keys.Bytes())
}

func sortSign(f field) (int32, error) {
	if !f.Value.IsNumber() {
		return 0, mongoerr.Errorf(15974, "Illegal key in $sort specification: %s", written(f.Name, f.Value))
	}
	n, whole := f.Value.Rounded()
	if !whole || n != 1 && n != -1 {
		return 0, mongoerr.Errorf(15975, "$sort key ordering must be 1 (for ascending) or -1 (for descending)")
	}
	return int32(n), nil
}
