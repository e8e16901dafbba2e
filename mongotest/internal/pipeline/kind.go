package pipeline

import (
	"maps"
	"slices"

	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

// kind is one row of the table of stages.
type kind struct {
	name   string
	parse  func(p *parser, name string, spec Value) (stage, error)
	survey func(p *parser, name string, spec Value) error // the check before any stage is compiled
	first  bool                                           // only at the start
	last   bool                                           // only at the end
	source bool                                           // makes documents of its own
	update bool                                           // may be in an update
	alone  bool                                           // not in a $facet
	events bool                                           // may follow $changeStream
	since  version.Version                                // the first that has it; zero: all have
}

// stageKinds are the stages by name. It is never written to after init.
var stageKinds = make(map[string]*kind)

// Names returns the names of all stages.
func Names() []string { return slices.Sorted(maps.Keys(stageKinds)) }
