package expr

import "github.com/holdfast-db/holdfast/mongotest/internal/query"

// compare compares two values, strings by the collation.
func (e *Env) compare(a, b Value) int { return query.CompareBy(e.Collation, a, b) }

// equal reports whether two values are the same by the collation.
func (e *Env) equal(a, b Value) bool { return e.compare(a, b) == 0 }

// collating is a collector that compares values.
type collating interface{ collate(c query.Collation) }

// collated returns a collector that compares by the collation.
func (e *Env) collated(c collector) collector {
	if by, ok := c.(collating); ok && e.Collation != nil {
		by.collate(e.Collation)
	}
	return c
}
