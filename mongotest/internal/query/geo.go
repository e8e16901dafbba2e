package query

import (
	"math"
	"slices"

	"github.com/golang/geo/r2"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/geo"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// within is $geoWithin: a geometry that lies in a shape.
type within struct{ shape geo.Shape }

func (w within) test(v Value, _ *Matching) bool {
	g := storedGeometry(v)
	return g != nil && w.shape.Contains(g)
}

// intersects is $geoIntersects: a geometry that has a point in common with another one, or with a circle on the sphere, with which none has.
type intersects struct{ geometry *geo.Geometry }

func (i intersects) test(v Value, _ *Matching) bool {
	g := storedGeometry(v)
	return g != nil && i.geometry != nil && i.geometry.Intersects(g)
}

// isGeo reports whether an operator has a geometry.
func isGeo(operator string) bool {
	return operator == "$geoWithin" || operator == "$within" || operator == "$geoIntersects"
}

// loneGeo returns an error if an operator with a geometry is not the only one of an expression.
func loneGeo(doc []byte) error {
	it := wire.Elements(doc)
	for n, first := 0, false; it.Next(); n++ {
		if n > 0 && (first || isGeo(string(it.Key))) {
			return mongoerr.Errorf(mongoerr.BadValue, "can't parse extra field: %s", shellElement(string(it.Key), Of(it.Element)))
		}
		first = n == 0 && isGeo(string(it.Key))
	}
	return it.Err
}

// specified is the shape of an operator.
type specified struct {
	shape    geo.Shape
	geometry *geo.Geometry // of $geometry
	sphere   bool          // it is a circle on the sphere
}

func parseGeo(key string, v Value, whole []byte) (condition, error) {
	if err := loneGeo(whole); err != nil {
		return nil, err
	}
	s, err := parseSpecified(key, v)
	if err != nil {
		return nil, err
	}
	unlike := func(name string) error {
		return mongoerr.Errorf(mongoerr.BadValue, "%s not supported with provided geometry: { %s }", name, shellElement(key, v))
	}
	if key == "$geoIntersects" {
		if s.shape != nil && !s.sphere || s.geometry != nil && s.geometry.OnlyFlat() {
			return nil, unlike("$geoIntersect")
		}
		return &leaf{predicate: intersects{s.geometry}, expand: true}, nil
	}
	if s.geometry != nil {
		if !s.geometry.IsArea() {
			return nil, unlike("$within")
		}
		s.shape = s.geometry
	}
	return &leaf{predicate: within{s.shape}, expand: true}, nil
}

// parseSpecified reads the shapes of an operator. $geoWithin has one, the others' last one counts.
func parseSpecified(key string, v Value) (specified, error) {
	var s specified
	if !v.IsDocument() {
		return s, mongoerr.Errorf(mongoerr.BadValue, "geometry must be an object")
	}
	found := false
	it := wire.Elements(v.Data)
	for it.Next() {
		name := string(it.Key)
		switch {
		case !found && name == "$uniqueDocs":
			continue
		case found && key == "$geoWithin":
			return s, mongoerr.Errorf(mongoerr.BadValue, "$geoWithin doesn't accept multiple shapes %s", shellElement(key, v))
		}
		found = true
		var err error
		if s, err = parseShape(name, Of(it.Element)); err != nil {
			return s, err
		}
	}
	if !found {
		return s, mongoerr.Errorf(mongoerr.BadValue, "geo query doesn't have any geometry")
	}
	return s, it.Err
}

func parseShape(name string, v Value) (specified, error) {
	if !v.IsDocument() && !v.IsArray() {
		return specified{}, mongoerr.Errorf(mongoerr.BadValue, "unknown geo specifier: %s", shellElement(name, v))
	}
	switch name {
	case "$box":
		corners, err := parsePoints(append(v.elements(), Value{}, Value{})[:2])
		if err != nil {
			return specified{}, err
		}
		return specified{shape: geo.NewBox(corners[0], corners[1])}, nil
	case "$polygon":
		corners, err := parsePoints(v.elements())
		if err == nil && len(corners) < 3 {
			err = mongoerr.Errorf(mongoerr.BadValue, "Polygon must have at least 3 points, instead got %d vertices", len(corners))
		}
		return specified{shape: geo.Ring(corners)}, err
	case "$center", "$centerSphere":
		return parseCircle(v.elements(), name == "$centerSphere")
	case "$geometry":
		g, err := parseGeometry(v)
		return specified{geometry: g}, err
	}
	return specified{}, mongoerr.Errorf(mongoerr.BadValue, "unknown geo specifier: %s", shellElement(name, v))
}

func parsePoints(list []Value) ([]r2.Point, error) {
	points := make([]r2.Point, len(list))
	for i, v := range list {
		var err error
		if points[i], err = parsePoint(v, false); err != nil {
			return nil, err
		}
	}
	return points, nil
}

// parsePoint reads two numbers of an array or a document. A point of GeoJSON and one of a document may have more fields.
func parsePoint(v Value, more bool) (r2.Point, error) {
	if !v.IsDocument() && !v.IsArray() {
		return r2.Point{}, mongoerr.Errorf(mongoerr.BadValue, "Point must be an array or object, instead got type %s", typeNameOf(v))
	}
	all := v.elements()
	numbers := append(all[:min(2, len(all)):min(2, len(all))], Value{}, Value{})[:2]
	for _, n := range numbers {
		if !n.IsNumber() {
			return r2.Point{}, mongoerr.Errorf(mongoerr.BadValue, "Point must only contain numeric elements, instead got type %s", typeNameOf(n))
		}
	}
	p := r2.Point{X: numbers[0].AsFloat64(), Y: numbers[1].AsFloat64()}
	switch {
	case !more && len(all) > 2:
		return p, mongoerr.Errorf(mongoerr.BadValue, "Point must only contain two numeric elements")
	case math.IsNaN(p.X+p.Y) || math.IsInf(p.X, 0) || math.IsInf(p.Y, 0):
		return p, mongoerr.Errorf(mongoerr.BadValue, "Point coordinates must be finite numbers")
	}
	return p, nil
}

func typeNameOf(v Value) string {
	if v.Missing() {
		return "missing"
	}
	return TypeName(v.Type)
}

// parseCircle reads a center and a radius.
func parseCircle(list []Value, sphere bool) (specified, error) {
	all := slices.Concat(list, []Value{{}, {}})
	center, err := parsePoint(all[0], false)
	if err != nil {
		return specified{}, err
	}
	radius := math.NaN()
	if all[1].IsNumber() {
		radius = all[1].AsFloat64()
	}
	switch {
	case sphere && !geo.OnEarth(center):
		return specified{}, offEarth(center)
	case math.IsNaN(radius) || radius < 0:
		text := "EOO"
		switch {
		case all[1].IsNumber() && math.IsNaN(all[1].AsFloat64()):
			text = "nan"
		case !all[1].Missing():
			text = all[1].String()
		}
		return specified{}, mongoerr.Errorf(mongoerr.BadValue, "Radius must be a non-negative number: %s", text)
	case len(list) > 2:
		return specified{}, mongoerr.Errorf(mongoerr.BadValue, "Only 2 fields allowed for circular region, but more were provided")
	case sphere:
		return specified{shape: geo.NewCap(center, math.Min(radius, math.Pi)), sphere: true}, nil
	}
	return specified{shape: geo.Circle{Center: center, Radius: radius}}, nil
}

func offEarth(p r2.Point) error {
	return mongoerr.Errorf(mongoerr.BadValue, "Longitude/latitude is out of bounds, lng: %s lat: %s", shortNumber(p.X), shortNumber(p.Y))
}

// storedGeometry reads a value of a document, nil for one that is no geometry.
func storedGeometry(v Value) *geo.Geometry {
	if !v.IsDocument() && !v.IsArray() {
		return nil
	}
	if p, err := parsePoint(v, true); err == nil {
		return geo.NewPoint(p)
	}
	if !v.IsDocument() || Lookup(v.Data, "type").Type != bson.TypeString {
		return nil
	}
	g, err := parseGeoJSON(v, false)
	if err != nil {
		return nil
	}
	return g
}

// parseGeometry reads what a $geometry is: GeoJSON, or two numbers.
func parseGeometry(v Value) (*geo.Geometry, error) {
	first := append(v.elements(), Value{})[0]
	if v.IsArray() || Lookup(v.Data, "type").Type != bson.TypeString && !first.Missing() && first.IsNumber() {
		p, err := parsePoint(v, false)
		if err != nil {
			return nil, err
		}
		return geo.NewPoint(p), nil
	}
	return parseGeoJSON(v, false)
}
