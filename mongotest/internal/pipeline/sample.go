package pipeline

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/sample/

func parseSample(_ *parser, _ string, spec Value) (stage, error) {
	if !spec.IsDocument() {
		return nil, mongoerr.Errorf(28745, "the $sample stage specification must be an object")
	}
	size := missing
	for _, f := range query.ObjectOf(spec.Data) {
		if f.Name != "size" {
			return nil, mongoerr.Errorf(28748, "unrecognized option to $sample: %s", f.Name)
		}
		if size = f.Value; !size.IsNumber() {
			return nil, mongoerr.Errorf(28746, "size argument to $sample must be a number")
		}
	}
	if size.Missing() {
		return nil, mongoerr.Errorf(28749, "$sample stage must specify a size")
	}
	n := int(size.Clamped())
	if n < 1 {
		return nil, mongoerr.Errorf(28747, "size argument to $sample must be a positive integer")
	}
	return ofAll(func(r *runner, docs [][]byte) ([][]byte, error) { return choose(r, docs, n), nil }), nil
}

// choose returns n of the documents in random order.
func choose(r *runner, docs [][]byte, n int) [][]byte {
	n = min(n, len(docs))
	for i := range n {
		j := i + r.random(len(docs)-i)
		docs[i], docs[j] = docs[j], docs[i]
	}
	return docs[:n]
}
