// Package vector has searches for vectors that are near to a given one.
package vector

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/holdfast-db/holdfast/couchbase/search"
)

// defaultCandidates is the number of results of a query that sets none.
const defaultCandidates = 3

// Query asks for the documents whose vectors are the nearest.
type Query struct{ query InternalQuery }

// NewQuery returns a query for a vector in a field.
func NewQuery(vectorFieldName string, vector []float32) *Query {
	return &Query{InternalQuery{Field: vectorFieldName, Vector: vector}}
}

// NewBase64Query returns a query for a vector in a field, which is given as little-endian floats of 32 bits in base64.
func NewBase64Query(vectorFieldName string, base64Vector string) *Query {
	return &Query{InternalQuery{Field: vectorFieldName, Base64Vector: base64Vector}}
}

// NumCandidates sets the number of results. The default is 3.
func (q *Query) NumCandidates(num uint32) *Query {
	q.query.NumCandidates = &num
	return q
}

// Boost sets the weight of the query among others.
func (q *Query) Boost(boost float32) *Query {
	q.query.Boost = &boost
	return q
}

// Prefilter sets a query that the documents must match as well.
func (q *Query) Prefilter(query search.Query) *Query {
	q.query.Prefilter = query
	return q
}

// Internal returns the parts of the query.
func (q *Query) Internal() InternalQuery { return q.query }

// InternalQuery is a [Query] with its parts.
type InternalQuery struct {
	Field        string
	Vector       []float32
	Base64Vector string

	NumCandidates *uint32
	Boost         *float32
	Prefilter     search.Query
}

// Validate returns an error if the query cannot be sent.
func (q InternalQuery) Validate() error {
	switch {
	case q.Field == "":
		return errors.New("the name of the field of a vector query is empty")
	case len(q.Vector) == 0 && q.Base64Vector == "":
		return errors.New("the vector of a vector query is empty")
	case q.NumCandidates != nil && *q.NumCandidates == 0:
		return errors.New("NumCandidates of a vector query is 0: it must be at least 1")
	default:
		return nil
	}
}

// MarshalJSON returns the query as the search service reads it.
func (q InternalQuery) MarshalJSON() ([]byte, error) {
	fields := map[string]any{"field": q.Field, "k": uint32(defaultCandidates)}
	if q.NumCandidates != nil {
		fields["k"] = *q.NumCandidates
	}
	if q.Base64Vector != "" {
		fields["vector_base64"] = q.Base64Vector
	} else {
		fields["vector"] = q.Vector
	}
	if q.Boost != nil {
		fields["boost"] = *q.Boost
	}
	if q.Prefilter != nil {
		fields["filter"] = q.Prefilter
	}
	return json.Marshal(fields)
}

// VectorQueryCombination says whether a document must match one of the queries or all.
type VectorQueryCombination string

// The combinations.
const (
	VectorQueryCombinationNotSet VectorQueryCombination = "" // the service's default
	VectorQueryCombinationAnd    VectorQueryCombination = "and"
	VectorQueryCombinationOr     VectorQueryCombination = "or"
)

// SearchOptions are the options of [NewSearch].
type SearchOptions struct {
	VectorQueryCombination VectorQueryCombination
}

// Search is one or several queries.
type Search struct{ search InternalSearch }

// NewSearch returns a search with these queries.
func NewSearch(queries []*Query, opts *SearchOptions) *Search {
	s := &Search{}
	for _, q := range queries {
		s.search.Queries = append(s.search.Queries, q.query)
	}
	if opts != nil {
		s.search.VectorQueryCombination = opts.VectorQueryCombination
	}
	return s
}

// Internal returns the parts of the search.
func (s *Search) Internal() InternalSearch { return s.search }

// InternalSearch is a [Search] with its parts.
type InternalSearch struct {
	Queries []InternalQuery

	VectorQueryCombination VectorQueryCombination
}

// Validate returns an error if the search cannot be sent.
func (s InternalSearch) Validate() error {
	if len(s.Queries) == 0 {
		return errors.New("the vector search has no query")
	}
	for i, q := range s.Queries {
		if err := q.Validate(); err != nil {
			return fmt.Errorf("query %d: %w", i, err)
		}
	}
	return nil
}
