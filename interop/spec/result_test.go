package spec

import (
	"errors"

	"github.com/holdfast-db/holdfast/internal/spectest/unified"
)

// result is what became of one case on one topology: its first failure, if there is one.
type result struct {
	file, name string // the file with the topology before it
	err        error
	runs       int // on how many versions it was run
}

type outcome int

const (
	passes outcome = iota
	fails
	skipped // by the file's own word
)

func (r result) outcome() outcome {
	skip := new(unified.Skipped)
	switch {
	case r.err == nil:
		return passes
	case errors.As(r.err, &skip):
		return skipped
	}
	return fails
}
