package pipeline

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
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
	return fail(notImplemented, "mongotest: the stage %s with a collation is not supported but for what compares no strings", k.name)
}

// countsOnly tells whether a $group makes one group and compares nothing for it.
func countsOnly(spec Value) bool {
	for _, f := range fieldsOf(spec.Data) {
		if f.name == "_id" {
			if f.value.Type == bson.TypeString && strings.HasPrefix(string(f.value.Text()), "$") || f.value.IsDocument() || f.value.IsArray() {
				return false
			}
			continue
		}
		accumulator := fieldsOf(f.value.Data)
		if len(accumulator) != 1 || accumulator[0].value.IsDocument() || accumulator[0].value.IsArray() {
			return false
		}
		switch accumulator[0].name {
		case "$sum", "$avg", "$count", "$push", "$first", "$last":
		default:
			return false
		}
	}
	return true
}
