package explain

import (
	"fmt"
	"slices"

	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/indexStats/

// Trials is what Uses asks of a collection where several plans would do.
type Trials interface {
	// Chosen returns what was the best for a shape of queries, false if that is not known or no longer.
	Chosen(shape string) ([]*store.Index, bool)
	Choose(shape string, list []*store.Index)
	// Sample returns the documents that the plans are tried on.
	Sample() []*store.Record
}

// Uses returns the indexes that the plan of a query reads, without running it. The query needs no documents.
func Uses(q *Query, t Trials) ([]*store.Index, error) {
	if q.Search != nil {
		return q.Search.uses(), nil
	}
	p, err := newPlanner(q)
	if err != nil {
		return nil, err
	}
	plan := &Plan{query: q, condition: p.condition}
	if p.simple(plan) {
		return p.read(plan.root), nil
	}
	if s := p.distinct(); s != nil {
		return p.read(s), nil
	}
	list := p.best(t)
	return list, p.failed
}

// uses returns the index of the search, none if no word is searched.
func (s *Search) uses() []*store.Index {
	if s.Words != nil && len(s.Words.Asked().Terms) == 0 {
		return nil
	}
	return []*store.Index{s.Index}
}

// read returns the indexes that stages read.
func (p *planner) read(s stage) []*store.Index {
	var list []*store.Index
	for _, each := range sources(s) {
		switch each := each.(type) {
		case *lookup:
			list = append(list, p.ofID.Index)
		case reader:
			list = append(list, each.reads())
		}
	}
	return list
}

// read returns the indexes that the way reads, each once. A branch may have branches too.
func (c *candidate) read() []*store.Index {
	if c.scan != nil {
		return []*store.Index{c.scan.index.Index}
	}
	var list []*store.Index
	for _, each := range c.branches {
		for _, ix := range each.read() {
			if !slices.Contains(list, ix) {
				list = append(list, ix)
			}
		}
	}
	return list
}

// best returns the indexes of the best way. It is found by a trial only where the ways have different ones.
func (p *planner) best(t Trials) []*store.Index {
	list := p.candidates(p.condition)
	first := list[0].read()
	if !slices.ContainsFunc(list, func(c *candidate) bool { return !slices.Equal(c.read(), first) }) {
		return first
	}
	shape := p.shape()
	if known, ok := t.Chosen(shape); ok && p.Permits == nil {
		return known
	}
	p.Records = t.Sample()
	won := p.compete(list)[0].candidate.read()
	if p.failed == nil && p.Permits == nil {
		t.Choose(shape, won)
	}
	return won
}

// shape is what the queries have in common for which the same plan is taken to be the best.
func (p *planner) shape() string {
	dst := fmt.Appendf(nil, "%d %t %t %s %s ", p.Kind, p.Collated, p.Limit > 0, p.Sort, p.Projection)
	return string(shapeOf(dst, p.condition))
}
