package command

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/pipeline"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// targetName is the stage by which a pipeline writes.
func targetName(t *pipeline.Target) string {
	if t.Merge {
		return "$merge"
	}
	return "$out"
}

var errFixedOut = mongoerr.Errorf(mongoerr.InvalidOptions, "the 'fixedBucketing' option is not allowed in $out")

// mergeable is a result with the filter for what it is merged into.
type mergeable struct {
	doc    []byte
	filter query.Filter
}

// valueAt returns the value at a path that leads through documents only, or an array that is in the way.
func valueAt(doc []byte, path []string) query.Value {
	v := query.Lookup(doc, path[0])
	if len(path) > 1 && v.IsDocument() {
		return valueAt(v.Data, path[1:])
	}
	if len(path) > 1 && !v.IsArray() {
		return query.Value{}
	}
	return v
}
