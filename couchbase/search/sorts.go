package search

// SearchSortScore orders hits by their score.
type SearchSortScore struct{ fields object }

// NewSearchSortScore returns an order by score.
func NewSearchSortScore() *SearchSortScore {
	return &SearchSortScore{object{"by": "score"}}
}

// Descending turns the order round.
func (q *SearchSortScore) Descending(descending bool) *SearchSortScore {
	q.fields.descend(descending)
	return q
}

// MarshalJSON returns the value as the service reads it.
func (q SearchSortScore) MarshalJSON() ([]byte, error) { return q.fields.json() }

// SearchSortID orders hits by their ids.
type SearchSortID struct{ fields object }

// NewSearchSortID returns an order by id.
func NewSearchSortID() *SearchSortID {
	return &SearchSortID{object{"by": "id"}}
}

// Descending turns the order round.
func (q *SearchSortID) Descending(descending bool) *SearchSortID {
	q.fields.descend(descending)
	return q
}

// MarshalJSON returns the value as the service reads it.
func (q SearchSortID) MarshalJSON() ([]byte, error) { return q.fields.json() }

// SearchSortField orders hits by a field.
type SearchSortField struct{ fields object }

// NewSearchSortField returns an order by a field.
func NewSearchSortField(field string) *SearchSortField {
	return &SearchSortField{object{"by": "field", "field": field}}
}

// Descending turns the order round.
func (q *SearchSortField) Descending(descending bool) *SearchSortField {
	q.fields.descend(descending)
	return q
}

// Missing says where hits without the field stand: "first" or "last".
func (q *SearchSortField) Missing(missing string) *SearchSortField {
	q.fields.set("missing", missing)
	return q
}

// Mode says which of several values counts: "default", "min" or "max".
func (q *SearchSortField) Mode(mode string) *SearchSortField {
	q.fields.set("mode", mode)
	return q
}

// Type sets the type of the field: "auto", "string", "number" or "date".
func (q *SearchSortField) Type(value string) *SearchSortField {
	q.fields.set("type", value)
	return q
}

// MarshalJSON returns the value as the service reads it.
func (q SearchSortField) MarshalJSON() ([]byte, error) { return q.fields.json() }

// SearchSortGeoDistance orders hits by their distance from a place.
type SearchSortGeoDistance struct{ fields object }

// NewSearchSortGeoDistance returns an order by the distance of a field from a place.
func NewSearchSortGeoDistance(field string, lon, lat float64) *SearchSortGeoDistance {
	return &SearchSortGeoDistance{object{"by": "geo_distance", "field": field, "location": []float64{lon, lat}}}
}

// Descending turns the order round.
func (q *SearchSortGeoDistance) Descending(descending bool) *SearchSortGeoDistance {
	q.fields.descend(descending)
	return q
}

// Unit sets the unit of the distances.
func (q *SearchSortGeoDistance) Unit(unit string) *SearchSortGeoDistance {
	q.fields.set("unit", unit)
	return q
}

// MarshalJSON returns the value as the service reads it.
func (q SearchSortGeoDistance) MarshalJSON() ([]byte, error) { return q.fields.json() }

// SearchSortGeoDistanceUnits is a unit of distances.
type SearchSortGeoDistanceUnits string

// The units.
const (
	SearchSortGeoDistanceUnitsMeters        SearchSortGeoDistanceUnits = "meters"
	SearchSortGeoDistanceUnitsCentimeters   SearchSortGeoDistanceUnits = "centimeters"
	SearchSortGeoDistanceUnitsFeet          SearchSortGeoDistanceUnits = "feet"
	SearchSortGeoDistanceUnitsInches        SearchSortGeoDistanceUnits = "inch"
	SearchSortGeoDistanceUnitsKilometers    SearchSortGeoDistanceUnits = "kilometers"
	SearchSortGeoDistanceUnitsMiles         SearchSortGeoDistanceUnits = "miles"
	SearchSortGeoDistanceUnitsMilliMeters   SearchSortGeoDistanceUnits = "millimeters"
	SearchSortGeoDistanceUnitsNauticalMiles SearchSortGeoDistanceUnits = "nauticalmiles"
	SearchSortGeoDistanceUnitsYards         SearchSortGeoDistanceUnits = "yards"
)
