package search

// MatchQuery matches fields with words of a text, which is analyzed as the field is.
type MatchQuery struct{ fields object }

// NewMatchQuery returns a query for a text.
func NewMatchQuery(match string) *MatchQuery {
	return &MatchQuery{object{"match": match}}
}

// Analyzer sets the analyzer of the text; without it that of the field is used.
func (q *MatchQuery) Analyzer(analyzer string) *MatchQuery {
	q.fields.set("analyzer", analyzer)
	return q
}

// Boost sets the weight of the query among others.
func (q *MatchQuery) Boost(boost float32) *MatchQuery {
	q.fields.set("boost", boost)
	return q
}

// Field sets the field that is searched; without it the index's default one is.
func (q *MatchQuery) Field(field string) *MatchQuery {
	q.fields.set("field", field)
	return q
}

// Fuzziness sets how many letters may differ.
func (q *MatchQuery) Fuzziness(fuzziness uint64) *MatchQuery {
	q.fields.set("fuzziness", fuzziness)
	return q
}

// Operator says whether all words must match or one of them.
func (q *MatchQuery) Operator(operator MatchOperator) *MatchQuery {
	q.fields.set("operator", operator)
	return q
}

// PrefixLength sets how many letters at the beginning must be the same.
func (q *MatchQuery) PrefixLength(length uint64) *MatchQuery {
	q.fields.set("prefix_length", length)
	return q
}

// MarshalJSON returns the value as the service reads it.
func (q MatchQuery) MarshalJSON() ([]byte, error) { return q.fields.json() }

// MatchPhraseQuery matches fields with the words of a text in their order, which is analyzed as the field is.
type MatchPhraseQuery struct{ fields object }

// NewMatchPhraseQuery returns a query for a phrase.
func NewMatchPhraseQuery(phrase string) *MatchPhraseQuery {
	return &MatchPhraseQuery{object{"match_phrase": phrase}}
}

// Analyzer sets the analyzer of the text; without it that of the field is used.
func (q *MatchPhraseQuery) Analyzer(analyzer string) *MatchPhraseQuery {
	q.fields.set("analyzer", analyzer)
	return q
}

// Boost sets the weight of the query among others.
func (q *MatchPhraseQuery) Boost(boost float32) *MatchPhraseQuery {
	q.fields.set("boost", boost)
	return q
}

// Field sets the field that is searched; without it the index's default one is.
func (q *MatchPhraseQuery) Field(field string) *MatchPhraseQuery {
	q.fields.set("field", field)
	return q
}

// MarshalJSON returns the value as the service reads it.
func (q MatchPhraseQuery) MarshalJSON() ([]byte, error) { return q.fields.json() }

// TermQuery matches fields with exactly this word. It is not analyzed.
type TermQuery struct{ fields object }

// NewTermQuery returns a query for a word.
func NewTermQuery(term string) *TermQuery {
	return &TermQuery{object{"term": term}}
}

// Boost sets the weight of the query among others.
func (q *TermQuery) Boost(boost float32) *TermQuery {
	q.fields.set("boost", boost)
	return q
}

// Field sets the field that is searched; without it the index's default one is.
func (q *TermQuery) Field(field string) *TermQuery {
	q.fields.set("field", field)
	return q
}

// Fuzziness sets how many letters may differ.
func (q *TermQuery) Fuzziness(fuzziness uint64) *TermQuery {
	q.fields.set("fuzziness", fuzziness)
	return q
}

// PrefixLength sets how many letters at the beginning must be the same.
func (q *TermQuery) PrefixLength(length uint64) *TermQuery {
	q.fields.set("prefix_length", length)
	return q
}

// MarshalJSON returns the value as the service reads it.
func (q TermQuery) MarshalJSON() ([]byte, error) { return q.fields.json() }

// PhraseQuery matches fields with exactly these words in their order. They are not analyzed.
type PhraseQuery struct{ fields object }

// NewPhraseQuery returns a query for words.
func NewPhraseQuery(terms ...string) *PhraseQuery {
	return &PhraseQuery{object{"terms": terms}}
}

// Boost sets the weight of the query among others.
func (q *PhraseQuery) Boost(boost float32) *PhraseQuery {
	q.fields.set("boost", boost)
	return q
}

// Field sets the field that is searched; without it the index's default one is.
func (q *PhraseQuery) Field(field string) *PhraseQuery {
	q.fields.set("field", field)
	return q
}

// MarshalJSON returns the value as the service reads it.
func (q PhraseQuery) MarshalJSON() ([]byte, error) { return q.fields.json() }

// PrefixQuery matches fields with a word that begins so.
type PrefixQuery struct{ fields object }

// NewPrefixQuery returns a query for the beginning of a word.
func NewPrefixQuery(prefix string) *PrefixQuery {
	return &PrefixQuery{object{"prefix": prefix}}
}

// Boost sets the weight of the query among others.
func (q *PrefixQuery) Boost(boost float32) *PrefixQuery {
	q.fields.set("boost", boost)
	return q
}

// Field sets the field that is searched; without it the index's default one is.
func (q *PrefixQuery) Field(field string) *PrefixQuery {
	q.fields.set("field", field)
	return q
}

// MarshalJSON returns the value as the service reads it.
func (q PrefixQuery) MarshalJSON() ([]byte, error) { return q.fields.json() }

// RegexpQuery matches fields with a word that a regular expression describes.
type RegexpQuery struct{ fields object }

// NewRegexpQuery returns a query for a regular expression.
func NewRegexpQuery(regexp string) *RegexpQuery {
	return &RegexpQuery{object{"regexp": regexp}}
}

// Boost sets the weight of the query among others.
func (q *RegexpQuery) Boost(boost float32) *RegexpQuery {
	q.fields.set("boost", boost)
	return q
}

// Field sets the field that is searched; without it the index's default one is.
func (q *RegexpQuery) Field(field string) *RegexpQuery {
	q.fields.set("field", field)
	return q
}

// MarshalJSON returns the value as the service reads it.
func (q RegexpQuery) MarshalJSON() ([]byte, error) { return q.fields.json() }

// WildcardQuery matches fields with a word in which an asterisk stands for any letters and a question mark for one.
type WildcardQuery struct{ fields object }

// NewWildcardQuery returns a query for a word with wildcards.
func NewWildcardQuery(wildcard string) *WildcardQuery {
	return &WildcardQuery{object{"wildcard": wildcard}}
}

// Boost sets the weight of the query among others.
func (q *WildcardQuery) Boost(boost float32) *WildcardQuery {
	q.fields.set("boost", boost)
	return q
}

// Field sets the field that is searched; without it the index's default one is.
func (q *WildcardQuery) Field(field string) *WildcardQuery {
	q.fields.set("field", field)
	return q
}

// MarshalJSON returns the value as the service reads it.
func (q WildcardQuery) MarshalJSON() ([]byte, error) { return q.fields.json() }

// QueryStringQuery is a query in the service's own language for people.
type QueryStringQuery struct{ fields object }

// NewQueryStringQuery returns a query from its text.
func NewQueryStringQuery(query string) *QueryStringQuery {
	return &QueryStringQuery{object{"query": query}}
}

// Boost sets the weight of the query among others.
func (q *QueryStringQuery) Boost(boost float32) *QueryStringQuery {
	q.fields.set("boost", boost)
	return q
}

// MarshalJSON returns the value as the service reads it.
func (q QueryStringQuery) MarshalJSON() ([]byte, error) { return q.fields.json() }
