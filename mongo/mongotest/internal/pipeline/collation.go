package pipeline

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// checkCollated refuses a stage that would compare strings by their bytes although the aggregation has a collation.
func (p *parser) checkCollated(k *kind, spec Value) error {
	if p.Collation == nil {
		return nil
	}
	switch k.name {
	case "$match", "$sort", "$limit", "$skip", "$count", "$sample", "$unwind", "$unset":
		return nil
	case "$group":
		if countsOnly(spec) {
			return nil
		}
	}
	return mongoerr.Errorf(mongoerr.NotImplemented,
		"mongotest: the stage %s with a collation is not supported but for what compares no strings", k.name)
}

// countsOnly reports whether a $group makes one group and compares nothing for it.
func countsOnly(spec Value) bool {
	for _, f := range query.ObjectOf(spec.Data) {
		if f.Name == "_id" {
			if f.Value.Type == bson.TypeString && strings.HasPrefix(string(f.Value.Text()), "$") || f.Value.IsDocument() || f.Value.IsArray() {
				return false
			}
			continue
		}
		accumulator := query.ObjectOf(f.Value.Data)
		if len(accumulator) != 1 || accumulator[0].Value.IsDocument() || accumulator[0].Value.IsArray() {
			return false
		}
		switch accumulator[0].Name {
		case "$sum", "$avg", "$count", "$push", "$first", "$last":
		default:
			return false
		}
	}
	return true
}
