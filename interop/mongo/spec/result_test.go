package spec

import (
	"errors"
	"strings"

	"github.com/holdfast-db/holdfast/internal/devtools/spectest/unified"
)

// result is what became of one case on one topology: its first failure, if there is one.
type result struct {
	file, name string // the file with the topology before it
	err        error
	runs       int // on how many versions it was run
}

// of reports whether the case is in a file of a suite.
func (r result) of(suite string) bool {
	_, file, _ := strings.Cut(r.file, " ")
	return strings.HasPrefix(file, suite+"/")
}

type outcome int

const (
	passes outcome = iota
	fails
	skipped     // by the file's own word
	unsupported // the client lacks something that the case needs
)

func (r result) outcome() outcome {
	skip := new(unified.Skipped)
	switch {
	case r.err == nil:
		return passes
	case errors.As(r.err, &skip):
		return skipped
	case r.missing() != "":
		return unsupported
	}
	return fails
}
