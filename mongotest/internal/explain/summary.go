package explain

import (
	"strings"

	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/database-profiler/

// Summary names the stages that read, with the keys of their indexes, as a profiler's planSummary does.
func (p *Plan) Summary() string {
	var names []string
	for _, s := range sources(p.root) {
		name := s.name()
		if r, ok := s.(reader); ok {
			name += " " + query.Document(r.reads().Pattern).Whole()
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// Examined is how many keys and documents the plan looked at.
func (p *Plan) Examined() (keys, docs int32) { return examined(p.root) }

// Sorts reports whether the plan sorts documents, because no index has their order.
func (p *Plan) Sorts() bool { return has(unchosen(p.root), "SORT") }

// Competed reports whether the plan was the best of several that were tried.
func (p *Plan) Competed() bool { return len(p.all) > 1 }

// sources returns the stages that take no results of others.
func sources(s stage) []stage {
	s = unchosen(s)
	inputs := s.inputs()
	if len(inputs) == 0 {
		return []stage{s}
	}
	var list []stage
	for _, each := range inputs {
		list = append(list, sources(each)...)
	}
	return list
}

// reader is a stage that reads an index.
type reader interface{ reads() *store.Index }

func (r *ranges) reads() *store.Index   { return r.index.Index }
func (s *direct) reads() *store.Index   { return s.index.Index }
func (s *near) reads() *store.Index     { return s.index }
func (s *termScan) reads() *store.Index { return s.index }
