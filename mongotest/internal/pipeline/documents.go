package pipeline

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/documents/

func parseDocuments(p *parser, _ string, spec Value) (stage, error) {
	e, err := p.expression(spec)
	if err != nil {
		return nil, because("Invalid $documents", err)
	}
	return ofAll(func(r *runner, _ [][]byte) ([][]byte, error) {
		v, err := r.eval(e, query.EmptyDocument)
		if err != nil {
			return nil, err
		}
		if !v.IsArray() {
			return nil, mongoerr.Errorf(5858203, "an array is expected")
		}
		var docs [][]byte
		for _, e := range query.Elements(v.Data) {
			if !e.IsDocument() {
				return nil, notDocument("elements within the array passed to $documents", e, query.EmptyDocument)
			}
			docs = append(docs, e.Data)
		}
		return docs, nil
	}), nil
}
