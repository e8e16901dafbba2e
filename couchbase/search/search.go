// Package search has queries, sortings and facets for the search service. A value of another package will do as well, if its JSON is
// what the service understands: the client only encodes it.
package search

// Query is a query: a value whose JSON is one.
type Query any

// Sort is an order of hits: a value whose JSON is one.
type Sort any

// Facet is a count of hits by a property: a value whose JSON asks for one.
type Facet any

// MatchNoneQuery matches nothing.
type MatchNoneQuery struct{}

// NewMatchNoneQuery returns a query that matches nothing.
func NewMatchNoneQuery() *MatchNoneQuery { return &MatchNoneQuery{} }

// MarshalJSON returns the query as the service reads it.
func (q MatchNoneQuery) MarshalJSON() ([]byte, error) { return []byte(`{"match_none":null}`), nil }
