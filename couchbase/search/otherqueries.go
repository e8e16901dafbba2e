package search

// BooleanFieldQuery matches fields that are true, or those that are false.
type BooleanFieldQuery struct{ fields object }

// NewBooleanFieldQuery returns a query for a value.
func NewBooleanFieldQuery(val bool) *BooleanFieldQuery {
	return &BooleanFieldQuery{object{"bool": val}}
}

// Boost sets the weight of the query among others.
func (q *BooleanFieldQuery) Boost(boost float32) *BooleanFieldQuery {
	q.fields.set("boost", boost)
	return q
}

// Field sets the field that is searched; without it the index's default one is.
func (q *BooleanFieldQuery) Field(field string) *BooleanFieldQuery {
	q.fields.set("field", field)
	return q
}

// MarshalJSON returns the value as the service reads it.
func (q BooleanFieldQuery) MarshalJSON() ([]byte, error) { return q.fields.json() }

// DocIDQuery matches documents by their ids.
type DocIDQuery struct{ fields object }

// NewDocIDQuery returns a query for ids.
func NewDocIDQuery(ids ...string) *DocIDQuery {
	return &DocIDQuery{object{"ids": ids}}
}

// Boost sets the weight of the query among others.
func (q *DocIDQuery) Boost(boost float32) *DocIDQuery {
	q.fields.set("boost", boost)
	return q
}

// Field sets the field that is searched; without it the index's default one is.
func (q *DocIDQuery) Field(field string) *DocIDQuery {
	q.fields.set("field", field)
	return q
}

// MarshalJSON returns the value as the service reads it.
func (q DocIDQuery) MarshalJSON() ([]byte, error) { return q.fields.json() }

// AddDocIds adds ids.
func (q *DocIDQuery) AddDocIds(ids ...string) *DocIDQuery { //nolint:revive // the name in the official SDK
	before, _ := q.fields["ids"].([]string)
	q.fields.set("ids", append(before, ids...))
	return q
}

// GeoBoundingBoxQuery matches fields with a place in a rectangle.
type GeoBoundingBoxQuery struct{ fields object }

// NewGeoBoundingBoxQuery returns a query for the rectangle between its top left and its bottom right corner.
func NewGeoBoundingBoxQuery(tlLon, tlLat, brLon, brLat float64) *GeoBoundingBoxQuery {
	return &GeoBoundingBoxQuery{object{"top_left": []float64{tlLon, tlLat}, "bottom_right": []float64{brLon, brLat}}}
}

// Boost sets the weight of the query among others.
func (q *GeoBoundingBoxQuery) Boost(boost float32) *GeoBoundingBoxQuery {
	q.fields.set("boost", boost)
	return q
}

// Field sets the field that is searched; without it the index's default one is.
func (q *GeoBoundingBoxQuery) Field(field string) *GeoBoundingBoxQuery {
	q.fields.set("field", field)
	return q
}

// MarshalJSON returns the value as the service reads it.
func (q GeoBoundingBoxQuery) MarshalJSON() ([]byte, error) { return q.fields.json() }

// GeoDistanceQuery matches fields with a place that is near.
type GeoDistanceQuery struct{ fields object }

// NewGeoDistanceQuery returns a query for the places at most so far away, for example "10mi".
func NewGeoDistanceQuery(lon, lat float64, distance string) *GeoDistanceQuery {
	return &GeoDistanceQuery{object{"location": []float64{lon, lat}, "distance": distance}}
}

// Boost sets the weight of the query among others.
func (q *GeoDistanceQuery) Boost(boost float32) *GeoDistanceQuery {
	q.fields.set("boost", boost)
	return q
}

// Field sets the field that is searched; without it the index's default one is.
func (q *GeoDistanceQuery) Field(field string) *GeoDistanceQuery {
	q.fields.set("field", field)
	return q
}

// MarshalJSON returns the value as the service reads it.
func (q GeoDistanceQuery) MarshalJSON() ([]byte, error) { return q.fields.json() }

// Coordinate is a place.
type Coordinate struct {
	Lon float64
	Lat float64
}

// GeoPolygonQuery matches fields with a place in a polygon.
type GeoPolygonQuery struct{ fields object }

// NewGeoPolygonQuery returns a query for the polygon with these corners.
func NewGeoPolygonQuery(coords []Coordinate) *GeoPolygonQuery {
	points := make([][]float64, len(coords))
	for i, c := range coords {
		points[i] = []float64{c.Lon, c.Lat}
	}
	return &GeoPolygonQuery{object{"polygon_points": points}}
}

// Boost sets the weight of the query among others.
func (q *GeoPolygonQuery) Boost(boost float32) *GeoPolygonQuery {
	q.fields.set("boost", boost)
	return q
}

// Field sets the field that is searched; without it the index's default one is.
func (q *GeoPolygonQuery) Field(field string) *GeoPolygonQuery {
	q.fields.set("field", field)
	return q
}

// MarshalJSON returns the value as the service reads it.
func (q GeoPolygonQuery) MarshalJSON() ([]byte, error) { return q.fields.json() }
