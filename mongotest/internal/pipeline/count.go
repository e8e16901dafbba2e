package pipeline

import (
	"strings"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/count/

func parseCount(_ *parser, _ string, spec Value) (stage, error) {
	if !spec.IsString() {
		return nil, mongoerr.Errorf(40156, "the count field must be a non-empty string")
	}
	name := string(spec.Text())
	switch {
	case name == "":
		return nil, mongoerr.Errorf(40157, "the count field must be a non-empty string")
	case name[0] == '$':
		return nil, mongoerr.Errorf(40158, "the count field cannot be a $-prefixed path")
	case strings.Contains(name, "\x00"):
		return nil, mongoerr.Errorf(40159, "the count field cannot contain a null byte")
	case strings.Contains(name, "."):
		return nil, mongoerr.Errorf(40160, "the count field cannot contain '.'")
	case name == "_id":
		return nil, mongoerr.Errorf(9039800, "the count field cannot be '_id'")
	}
	return ofAll(func(_ *runner, docs [][]byte) ([][]byte, error) {
		if len(docs) == 0 {
			return nil, nil
		}
		return [][]byte{object{}.Set(name, count(len(docs))).Made().Data}, nil
	}), nil
}
