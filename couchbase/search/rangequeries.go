package search

// NumericRangeQuery matches fields with a number in a range.
type NumericRangeQuery struct{ fields object }

// NewNumericRangeQuery returns a query for any number; set at least one end.
func NewNumericRangeQuery() *NumericRangeQuery {
	return &NumericRangeQuery{object{}}
}

// Boost sets the weight of the query among others.
func (q *NumericRangeQuery) Boost(boost float32) *NumericRangeQuery {
	q.fields.set("boost", boost)
	return q
}

// Field sets the field that is searched; without it the index's default one is.
func (q *NumericRangeQuery) Field(field string) *NumericRangeQuery {
	q.fields.set("field", field)
	return q
}

// Max sets the end, and says whether it belongs to the range.
func (q *NumericRangeQuery) Max(end float32, inclusive bool) *NumericRangeQuery {
	q.fields.set("max", end)
	q.fields.set("inclusive_max", inclusive)
	return q
}

// Min sets the beginning, and says whether it belongs to the range.
func (q *NumericRangeQuery) Min(start float32, inclusive bool) *NumericRangeQuery {
	q.fields.set("min", start)
	q.fields.set("inclusive_min", inclusive)
	return q
}

// MarshalJSON returns the value as the service reads it.
func (q NumericRangeQuery) MarshalJSON() ([]byte, error) { return q.fields.json() }

// TermRangeQuery matches fields with a word in a range, by its bytes.
type TermRangeQuery struct{ fields object }

// NewTermRangeQuery returns a query for any word; set at least one end.
func NewTermRangeQuery() *TermRangeQuery {
	return &TermRangeQuery{object{}}
}

// Boost sets the weight of the query among others.
func (q *TermRangeQuery) Boost(boost float32) *TermRangeQuery {
	q.fields.set("boost", boost)
	return q
}

// Field sets the field that is searched; without it the index's default one is.
func (q *TermRangeQuery) Field(field string) *TermRangeQuery {
	q.fields.set("field", field)
	return q
}

// Max sets the end, and says whether it belongs to the range.
func (q *TermRangeQuery) Max(end string, inclusive bool) *TermRangeQuery {
	q.fields.set("max", end)
	q.fields.set("inclusive_max", inclusive)
	return q
}

// Min sets the beginning, and says whether it belongs to the range.
func (q *TermRangeQuery) Min(start string, inclusive bool) *TermRangeQuery {
	q.fields.set("min", start)
	q.fields.set("inclusive_min", inclusive)
	return q
}

// MarshalJSON returns the value as the service reads it.
func (q TermRangeQuery) MarshalJSON() ([]byte, error) { return q.fields.json() }

// DateRangeQuery matches fields with a date in a range.
type DateRangeQuery struct{ fields object }

// NewDateRangeQuery returns a query for any date; set at least one end.
func NewDateRangeQuery() *DateRangeQuery {
	return &DateRangeQuery{object{}}
}

// Boost sets the weight of the query among others.
func (q *DateRangeQuery) Boost(boost float32) *DateRangeQuery {
	q.fields.set("boost", boost)
	return q
}

// DateTimeParser sets the name of the parser that reads the dates.
func (q *DateRangeQuery) DateTimeParser(parser string) *DateRangeQuery {
	q.fields.set("datetime_parser", parser)
	return q
}

// End sets the end, and says whether it belongs to the range.
func (q *DateRangeQuery) End(end string, inclusive bool) *DateRangeQuery {
	q.fields.set("end", end)
	q.fields.set("inclusive_end", inclusive)
	return q
}

// Field sets the field that is searched; without it the index's default one is.
func (q *DateRangeQuery) Field(field string) *DateRangeQuery {
	q.fields.set("field", field)
	return q
}

// Start sets the beginning, and says whether it belongs to the range.
func (q *DateRangeQuery) Start(start string, inclusive bool) *DateRangeQuery {
	q.fields.set("start", start)
	q.fields.set("inclusive_start", inclusive)
	return q
}

// MarshalJSON returns the value as the service reads it.
func (q DateRangeQuery) MarshalJSON() ([]byte, error) { return q.fields.json() }
