package pipeline

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/limit/

type limit int64

func parseLimit(_ *parser, _ string, spec Value) (stage, error) {
	n, err := parseAmount("$limit", 5107201, spec)
	if err == nil && n == 0 {
		err = mongoerr.Errorf(15958, "the limit must be positive")
	}
	if err != nil {
		return nil, err
	}
	return limit(n), nil
}

func (l limit) run(_ *runner, in stream) stream {
	return func(yield func([]byte, error) bool) {
		left := l
		for doc, err := range in {
			left--
			if !yield(doc, err) || left == 0 {
				return
			}
		}
	}
}

// parseAmount reads a number of documents.
func parseAmount(name string, code int32, spec Value) (int64, error) {
	n, refused := query.WholeNumber(name, spec)
	if !spec.IsNumber() {
		refused = "Expected a number in: " + name + ": " + spec.Whole()
	}
	if refused != "" {
		return 0, mongoerr.Errorf(code, "invalid argument to %s stage: %s", name, refused)
	}
	return n, nil
}
