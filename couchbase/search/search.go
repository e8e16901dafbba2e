// Package search has queries, sortings and facets for the search service. A value of another package will do as well, if its JSON is
// what the service understands: the client only encodes it.
package search

import "encoding/json"

// Query is a query: a value whose JSON is one.
type Query any

// Sort is an order of hits: a value whose JSON is one.
type Sort any

// Facet is a count of hits by a property: a value whose JSON asks for one.
type Facet any

// object is a value for the service, by the names of its fields.
type object map[string]any

func (o *object) set(name string, value any) {
	if *o == nil {
		*o = make(object)
	}
	(*o)[name] = value
}

// descend turns an order round, or not.
func (o *object) descend(descending bool) {
	o.set("desc", true)
	if !descending {
		delete(*o, "desc")
	}
}

// add adds a value to a list.
func (o *object) add(name string, value any) {
	list, _ := (*o)[name].([]any)
	o.set(name, append(list, value))
}

// extend adds queries to a list.
func (o *object) extend(name string, queries []Query) {
	list, _ := (*o)[name].([]Query)
	o.set(name, append(list, queries...))
}

func (o object) json() ([]byte, error) { return json.Marshal(map[string]any(o)) }

// MatchOperator says whether all words of a text must match or one of them.
type MatchOperator string

// The operators. Without one, one word is enough.
const (
	MatchOperatorOr  MatchOperator = "or"
	MatchOperatorAnd MatchOperator = "and"
)

// MatchAllQuery matches every document.
type MatchAllQuery struct{}

// NewMatchAllQuery returns a query that matches every document.
func NewMatchAllQuery() *MatchAllQuery { return &MatchAllQuery{} }

// MarshalJSON returns the value as the service reads it.
func (q MatchAllQuery) MarshalJSON() ([]byte, error) { return []byte(`{"match_all":null}`), nil }

// MatchNoneQuery matches nothing.
type MatchNoneQuery struct{}

// NewMatchNoneQuery returns a query that matches nothing.
func NewMatchNoneQuery() *MatchNoneQuery { return &MatchNoneQuery{} }

// MarshalJSON returns the value as the service reads it.
func (q MatchNoneQuery) MarshalJSON() ([]byte, error) { return []byte(`{"match_none":null}`), nil }
