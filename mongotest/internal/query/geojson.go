package query

import (
	"math"
	"strconv"

	"github.com/golang/geo/r2"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/geo"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// parseGeoJSON reads a geometry, which may be one of a collection.
func parseGeoJSON(v Value, inCollection bool) (*geo.Geometry, error) {
	kind := Lookup(v.Data, "type")
	if kind.Type != bson.TypeString {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "unknown GeoJSON type (type field missing or not a string)")
	}
	name, coordinates := string(kind.Text()), Lookup(v.Data, "coordinates")
	parse, ok := geoJSON[name]
	switch {
	case name == "GeometryCollection" && inCollection:
		return nil, mongoerr.Errorf(mongoerr.BadValue, "GeometryCollections cannot be nested: %s", v)
	case name == "GeometryCollection":
		return parseCollection(Lookup(v.Data, "geometries"))
	case !ok && inCollection:
		return nil, mongoerr.Errorf(mongoerr.BadValue, "Unknown GeoJSON type: %s", v)
	case !ok:
		return nil, mongoerr.Errorf(mongoerr.BadValue, "unknown GeoJSON type '%s'", name)
	}
	if err := checkReferenceSystem(Lookup(v.Data, "crs")); err != nil {
		return nil, err
	}
	return parse(coordinates)
}

// geoJSON reads the coordinates of each type.
var geoJSON = map[string]func(v Value) (*geo.Geometry, error){
	"Point":           parseGeoPoint,
	"LineString":      parseLine,
	"Polygon":         parsePolygon,
	"MultiPoint":      parseMultiPoint,
	"MultiLineString": severalOf("MultiLineString", parseLine),
	"MultiPolygon":    severalOf("MultiPolygon", parsePolygon),
}

// checkReferenceSystem refuses a coordinate reference system other than longitude and latitude in degrees.
func checkReferenceSystem(v Value) error {
	if v.Missing() {
		return nil
	}
	if !v.IsDocument() {
		return mongoerr.Errorf(mongoerr.BadValue, "GeoJSON CRS must be an object, instead got type %s", typeNameOf(v))
	}
	if kind := Lookup(v.Data, "type"); kind.Type != bson.TypeString || string(kind.Text()) != "name" {
		return mongoerr.Errorf(mongoerr.BadValue, `GeoJSON CRS must have field "type": "name"`)
	}
	properties := Lookup(v.Data, "properties")
	if !properties.IsDocument() {
		return mongoerr.Errorf(mongoerr.BadValue, `CRS must have field "properties" which is an object, instead got type %s`, typeNameOf(properties))
	}
	name := Lookup(properties.Data, "name")
	if name.Type != bson.TypeString {
		return mongoerr.Errorf(mongoerr.BadValue, `In CRS, "properties.name" must be a string, instead got type %s`, typeNameOf(name))
	}
	switch s := string(name.Text()); s {
	case "EPSG:4326", "urn:ogc:def:crs:OGC:1.3:CRS84":
		return nil
	case "urn:x-mongodb:crs:strictwinding:EPSG:4326":
		return unsupported("the coordinate reference system", s)
	default:
		return mongoerr.Errorf(mongoerr.BadValue, "Unknown CRS name: %s", s)
	}
}

func parseGeoPoint(v Value) (*geo.Geometry, error) {
	p, err := parsePoint(v, true)
	if err == nil && !geo.OnEarth(p) {
		err = offEarth(p)
	}
	if err != nil {
		return nil, err
	}
	return geo.NewPoint(p), nil
}

// parseCoordinates reads a list of points.
func parseCoordinates(v Value) ([]r2.Point, error) {
	if !v.IsArray() {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "GeoJSON coordinates must be an array of coordinates, instead got type %s", typeNameOf(v))
	}
	var points []r2.Point
	for _, e := range v.elements() {
		if !e.IsArray() && !e.IsDocument() {
			return nil, mongoerr.Errorf(mongoerr.BadValue, "GeoJSON coordinates must be an array, instead got type %s", typeNameOf(e))
		}
		p, err := parsePoint(e, true)
		if err == nil && !geo.OnEarth(p) {
			err = offEarth(p)
		}
		if err != nil {
			return nil, err
		}
		points = append(points, p)
	}
	return points, nil
}

func parseLine(v Value) (*geo.Geometry, error) {
	points, err := parseCoordinates(v)
	if err != nil {
		return nil, err
	}
	g, different := geo.NewLine(points)
	if g == nil {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "GeoJSON LineString must have at least 2 vertices, instead got %d vertices: %s", different, v)
	}
	return g, nil
}

func parsePolygon(v Value) (*geo.Geometry, error) {
	if !v.IsArray() {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "Polygon coordinates must be an array, instead got type %s", typeNameOf(v))
	}
	var loops []geo.Loop
	list := v.elements()
	for _, e := range list {
		l, err := parseLoop(e)
		if err != nil {
			return nil, err
		}
		if len(loops) > 0 && !loops[0].Holds(l) {
			return nil, mongoerr.Errorf(mongoerr.BadValue, "Secondary loops not contained by first exterior loop - secondary loops must be holes: %s first loop: %s", e, list[0])
		}
		loops = append(loops, l)
	}
	if len(loops) == 0 {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "Polygon has no loops.")
	}
	return geo.NewPolygon(loops), nil
}

func parseLoop(v Value) (geo.Loop, error) {
	points, err := parseCoordinates(v)
	switch {
	case err != nil:
		return geo.Loop{}, err
	case len(points) == 0:
		return geo.Loop{}, mongoerr.Errorf(mongoerr.BadValue, "Loop has no vertices: %s", v)
	case points[0] != points[len(points)-1]:
		return geo.Loop{}, mongoerr.Errorf(mongoerr.BadValue, "Loop is not closed, first vertex does not equal last vertex: %s", v)
	}
	l, unique, err := geo.NewLoop(points)
	switch {
	case err != nil:
		return geo.Loop{}, mongoerr.Errorf(mongoerr.BadValue, "Loop is not valid: %s %s", v, err)
	case unique < 3:
		return geo.Loop{}, mongoerr.Errorf(mongoerr.BadValue, "Loop must have at least 3 different vertices, %d unique vertices were provided: %s", unique, v)
	}
	return l, nil
}

func parseMultiPoint(v Value) (*geo.Geometry, error) {
	points, err := parseCoordinates(v)
	if err == nil && len(points) == 0 {
		err = mongoerr.Errorf(mongoerr.BadValue, "MultiPoint coordinates must have at least 1 element")
	}
	if err != nil {
		return nil, err
	}
	parts := make([]*geo.Geometry, len(points))
	for i, p := range points {
		parts[i] = geo.NewPoint(p)
	}
	return geo.Together(parts), nil
}

// severalOf reads the coordinates of several geometries of one type.
func severalOf(name string, parse func(Value) (*geo.Geometry, error)) func(Value) (*geo.Geometry, error) {
	return func(v Value) (*geo.Geometry, error) {
		if !v.IsArray() {
			return nil, mongoerr.Errorf(mongoerr.BadValue, "%s coordinates must be an array, instead got type %s", name, typeNameOf(v))
		}
		var parts []*geo.Geometry
		for _, e := range v.elements() {
			g, err := parse(e)
			if err != nil {
				return nil, err
			}
			parts = append(parts, g)
		}
		if len(parts) == 0 {
			return nil, mongoerr.Errorf(mongoerr.BadValue, "%s coordinates must have at least 1 element", name)
		}
		return geo.Together(parts), nil
	}
}

func parseCollection(v Value) (*geo.Geometry, error) {
	if !v.IsArray() {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "GeometryCollection geometries must be an array, instead got type %s", typeNameOf(v))
	}
	var parts []*geo.Geometry
	for i, e := range v.elements() {
		if !e.IsDocument() {
			return nil, mongoerr.Errorf(mongoerr.BadValue, `Element %d of "geometries" must be an object, instead got type %s: %s`, i, typeNameOf(e), e)
		}
		g, err := parseGeoJSON(e, true)
		if err != nil {
			return nil, err
		}
		parts = append(parts, g)
	}
	if len(parts) == 0 {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "GeometryCollection geometries must have at least 1 element")
	}
	return geo.Together(parts), nil
}

// shortNumber writes a number with up to six digits, as the texts about longitudes do.
func shortNumber(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1e6 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return strconv.FormatFloat(f, 'g', 6, 64)
}
