package search

// TermFacet counts the hits by the words of a field.
type TermFacet struct{ fields object }

// NewTermFacet returns a facet that counts the most frequent words.
func NewTermFacet(field string, size uint64) *TermFacet {
	return &TermFacet{object{"field": field, "size": size}}
}

// MarshalJSON returns the value as the service reads it.
func (f TermFacet) MarshalJSON() ([]byte, error) { return f.fields.json() }

// NumericFacet counts the hits by ranges of a number.
type NumericFacet struct{ fields object }

// NewNumericFacet returns a facet that counts in the fullest ranges.
func NewNumericFacet(field string, size uint64) *NumericFacet {
	return &NumericFacet{object{"field": field, "size": size}}
}

// MarshalJSON returns the value as the service reads it.
func (f NumericFacet) MarshalJSON() ([]byte, error) { return f.fields.json() }

// AddRange adds a range.
func (f *NumericFacet) AddRange(name string, start, end float64) *NumericFacet {
	f.fields.add("numeric_ranges", object{"name": name, "min": start, "max": end})
	return f
}

// DateFacet counts the hits by ranges of a date.
type DateFacet struct{ fields object }

// NewDateFacet returns a facet that counts in the fullest ranges.
func NewDateFacet(field string, size uint64) *DateFacet {
	return &DateFacet{object{"field": field, "size": size}}
}

// MarshalJSON returns the value as the service reads it.
func (f DateFacet) MarshalJSON() ([]byte, error) { return f.fields.json() }

// AddRange adds a range.
func (f *DateFacet) AddRange(name string, start, end string) *DateFacet {
	f.fields.add("date_ranges", object{"name": name, "start": start, "end": end})
	return f
}
