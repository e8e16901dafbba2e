package pipeline

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/sortByCount/

func parseSortByCount(p *parser, _ string, spec Value) (stage, error) {
	if spec.IsDocument() && !isCall(spec) {
		return nil, mongoerr.Errorf(40147, "the sortByCount field must be defined as a $-prefixed path or an expression inside an object")
	}
	if spec.IsString() && !isReference(spec) {
		return nil, mongoerr.Errorf(40148, "the sortByCount field must be defined as a $-prefixed path or an expression inside an object")
	}
	if !spec.IsDocument() && !spec.IsString() {
		return nil, mongoerr.Errorf(40149, "the sortByCount field must be specified as a string or as an object")
	}
	id, err := p.expression(spec)
	if err != nil {
		return nil, err
	}
	s := &group{id: id}
	if s.accumulators, err = p.counting(); err != nil {
		return nil, err
	}
	order, err := query.ParseSort(object{}.Set("count", query.Int32(-1)).Bytes())
	if err != nil {
		return nil, err
	}
	return blocking(func(r *runner, in stream) ([][]byte, error) {
		groups, err := s.groups(r, in)
		if err != nil {
			return nil, err
		}
		return groups, order.Order(r.Work, groups)
	}), nil
}
