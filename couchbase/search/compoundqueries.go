package search

// ConjunctionQuery matches what all of its queries match.
type ConjunctionQuery struct{ fields object }

// NewConjunctionQuery returns a query of queries.
func NewConjunctionQuery(queries ...Query) *ConjunctionQuery {
	return new(ConjunctionQuery).And(queries...)
}

// And adds queries.
func (q *ConjunctionQuery) And(queries ...Query) *ConjunctionQuery {
	q.fields.extend("conjuncts", queries)
	return q
}

// Boost sets the weight of the query among others.
func (q *ConjunctionQuery) Boost(boost float32) *ConjunctionQuery {
	q.fields.set("boost", boost)
	return q
}

// MarshalJSON returns the value as the service reads it.
func (q ConjunctionQuery) MarshalJSON() ([]byte, error) { return q.fields.json() }

// DisjunctionQuery matches what enough of its queries match.
type DisjunctionQuery struct{ fields object }

// NewDisjunctionQuery returns a query of queries, one of which must match.
func NewDisjunctionQuery(queries ...Query) *DisjunctionQuery {
	return new(DisjunctionQuery).Or(queries...)
}

// Or adds queries.
func (q *DisjunctionQuery) Or(queries ...Query) *DisjunctionQuery {
	q.fields.extend("disjuncts", queries)
	return q
}

// Boost sets the weight of the query among others.
func (q *DisjunctionQuery) Boost(boost float32) *DisjunctionQuery {
	q.fields.set("boost", boost)
	return q
}

// Min sets how many of the queries must match.
func (q *DisjunctionQuery) Min(least uint32) *DisjunctionQuery {
	q.fields.set("min", least)
	return q
}

// MarshalJSON returns the value as the service reads it.
func (q DisjunctionQuery) MarshalJSON() ([]byte, error) { return q.fields.json() }

// BooleanQuery matches what some queries match, and others do not.
type BooleanQuery struct {
	fields        object
	must, mustNot []Query
	should        []Query
	shouldMin     uint32
}

// NewBooleanQuery returns a query without conditions.
func NewBooleanQuery() *BooleanQuery { return &BooleanQuery{} }

// Must adds queries all of which must match.
func (q *BooleanQuery) Must(queries ...Query) *BooleanQuery {
	q.must = append(q.must, queries...)
	return q
}

// MustNot adds queries none of which may match.
func (q *BooleanQuery) MustNot(queries ...Query) *BooleanQuery {
	q.mustNot = append(q.mustNot, queries...)
	return q
}

// Should adds queries that raise the score if they match.
func (q *BooleanQuery) Should(queries ...Query) *BooleanQuery {
	q.should = append(q.should, queries...)
	return q
}

// ShouldMin sets how many of the queries of Should must match.
func (q *BooleanQuery) ShouldMin(least uint32) *BooleanQuery {
	q.shouldMin = least
	return q
}

// Boost sets the weight of the query among others.
func (q *BooleanQuery) Boost(boost float32) *BooleanQuery {
	q.fields.set("boost", boost)
	return q
}

// MarshalJSON returns the value as the service reads it.
func (q BooleanQuery) MarshalJSON() ([]byte, error) {
	all := object{}
	for name, value := range q.fields {
		all[name] = value
	}
	if len(q.must) > 0 {
		all["must"] = NewConjunctionQuery(q.must...)
	}
	if len(q.mustNot) > 0 {
		all["must_not"] = NewDisjunctionQuery(q.mustNot...)
	}
	if len(q.should) > 0 {
		should := NewDisjunctionQuery(q.should...)
		if q.shouldMin > 0 {
			should.Min(q.shouldMin)
		}
		all["should"] = should
	}
	return all.json()
}
