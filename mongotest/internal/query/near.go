package query

import (
	"math"
	"strconv"

	"github.com/golang/geo/r2"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/geo"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// https://www.mongodb.com/docs/manual/reference/operator/query/near/

// Near is the $near or $nearSphere of a filter: the distance of a geometry from a point.
type Near struct {
	at      path
	point   r2.Point
	onEarth bool // the point is one of GeoJSON: the distances are meters
	sphere  bool // $nearSphere: those from two numbers are radians
	min     float64
	max     float64
	raw     Value // the two numbers as they were given
}

// farthest is the distance without a $maxDistance.
const farthest = math.MaxFloat64

// errNearHere refuses a search by distance where nothing is sorted by it.
var errNearHere = mongoerr.Errorf(5626500, "$geoNear, $near, and $nearSphere are not allowed in this context, as these operators require "+
	"sorting geospatial data. If you do not need sort, consider using $geoWithin instead. Check out "+
	"https://dochub.mongodb.org/core/near-sort-operation and https://dochub.mongodb.org/core/nearSphere-sort-operationfor more details.")

func isNear(operator string) bool {
	return operator == "$near" || operator == "$nearSphere" || operator == "$geoNear"
}

// beginsWithNear reports whether an expression is a search by distance.
func beginsWithNear(doc []byte) bool {
	it := wire.Elements(doc)
	return it.Next() && isNear(string(it.Key))
}

// near compiles a whole expression that begins with $near.
func (p *filterParser) near(doc []byte) (condition, error) {
	if !p.searches.Near {
		return nil, errNearHere
	}
	p.counted.nears++
	return ParseNear(p.at, doc)
}

// ParseNear compiles the expression of a $near, $nearSphere or $geoNear on a path.
func ParseNear(at string, doc []byte) (*Near, error) {
	n := &Near{at: splitPath(at), max: farthest}
	it := wire.Elements(doc)
	it.Next()
	v := Of(it.Element)
	n.sphere = string(it.Key) == "$nearSphere"
	switch {
	case !v.IsDocument() && !v.IsArray():
		return nil, mongoerr.Errorf(mongoerr.BadValue, "near must be first in: %s", shellDocument(doc))
	case v.IsDocument() && !Lookup(v.Data, "$geometry").Missing():
		return n, n.parse(v.Data, &it)
	}
	return n, n.parseLegacy(v, &it)
}

// parse reads the form {$geometry: point, $minDistance: number, $maxDistance: number}.
func (n *Near) parse(doc []byte, outer *wire.Iterator) error {
	extra := ""
	for outer.Next() {
		if err := n.legacyField(string(outer.Key), Of(outer.Element)); err != nil {
			return err
		}
		if extra == "" {
			extra = shellElement(string(outer.Key), Of(outer.Element))
		}
	}
	if extra != "" {
		return mongoerr.Errorf(mongoerr.BadValue, "geo near accepts just one argument when querying for a GeoJSON point. Extra field found: %s", extra)
	}
	it := wire.Elements(doc)
	found := false
	for it.Next() {
		v := Of(it.Element)
		var err error
		switch name := string(it.Key); name {
		case "$geometry":
			if v.IsDocument() || v.IsArray() {
				err, found = n.parseGeometry(v), true
			}
		case "$minDistance":
			n.min, err = nearDistance(name, v, mongoerr.BadValue, mongoerr.BadValue)
		case "$maxDistance":
			n.max, err = nearDistance(name, v, mongoerr.BadValue, mongoerr.BadValue)
		default:
			err = mongoerr.Errorf(mongoerr.BadValue, "invalid argument in geo near query: %s", name)
		}
		if err != nil {
			return err
		}
	}
	if !found {
		return mongoerr.Errorf(mongoerr.BadValue, "$geometry is required for geo near query")
	}
	return it.Err
}

func (n *Near) parseGeometry(v Value) (err error) {
	if n.point, n.onEarth, err = nearPoint(v); err != nil {
		return mongoerr.Errorf(mongoerr.BadValue, "invalid point in geo near query $geometry argument: %s  %s", shellDocument(v.Data), mongoerr.From(err).Message)
	}
	if !n.onEarth {
		return mongoerr.Errorf(mongoerr.BadValue, "$near requires geojson point, given %s", shellDocument(v.Data))
	}
	return nil
}

// nearPoint reads a point: one of GeoJSON, or two numbers.
func nearPoint(v Value) (p r2.Point, onEarth bool, err error) {
	kind := Lookup(v.Data, "type")
	list := v.elements()
	if v.IsArray() || kind.Type != bson.TypeString && len(list) > 0 && list[0].IsNumber() {
		p, err = parsePoint(v, false)
		return p, false, err
	}
	if name := string(kind.Text()); kind.Type == bson.TypeString && name != "Point" {
		if _, known := geoJSON[name]; !known && name != "GeometryCollection" {
			name = "unknown"
		}
		return p, true, mongoerr.Errorf(mongoerr.BadValue, "Expected geojson geometry with type Point, but got type %s", name)
	}
	coordinates := Lookup(v.Data, "coordinates")
	if p, err = parsePoint(coordinates, true); err == nil && !geo.OnEarth(p) {
		err = offEarth(p)
	}
	if err == nil {
		err = checkReferenceSystem(Lookup(v.Data, "crs"))
	}
	return p, true, err
}

// parseLegacy reads the form {$near: point, $minDistance: number, $maxDistance: number}, where a third number of the point is also the
// greatest distance.
func (n *Near) parseLegacy(v Value, it *wire.Iterator) error {
	n.raw = v
	if err := n.parseLegacyPoint(v); err != nil {
		return err
	}
	for it.Next() {
		if err := n.legacyField(string(it.Key), Of(it.Element)); err != nil {
			return err
		}
	}
	if n.sphere && !n.onEarth && !geo.OnEarth(n.point) {
		return mongoerr.Errorf(mongoerr.BadValue, "Legacy point is out of bounds for spherical query")
	}
	return it.Err
}

// legacyField reads what stands beside the point.
func (n *Near) legacyField(name string, v Value) (err error) {
	switch {
	case name == "$minDistance":
		n.min, err = nearDistance(name, v, 16893, 16894)
	case name == "$maxDistance":
		n.max, err = nearDistance(name, v, 16895, 16896)
	case isNear(name):
		n.sphere = n.sphere || name == "$nearSphere"
		return n.parseLegacyPoint(v)
	case name != "$uniqueDocs":
		return mongoerr.Errorf(34413, "invalid argument in geo near query: %s", name)
	}
	return err
}

func (n *Near) parseLegacyPoint(v Value) (err error) {
	if n.point, n.onEarth, err = nearPoint(v); err == nil {
		return nil
	}
	list := v.elements()
	if len(list) == 3 && list[2].IsNumber() {
		if n.point, err = parsePoint(Array(list[:2]), false); err == nil {
			if n.max = list[2].AsFloat64(); !(n.max >= 0) {
				return mongoerr.Errorf(18522, "max distance must be non-negative")
			}
			return nil
		}
	}
	return mongoerr.Errorf(mongoerr.BadValue, "invalid point provided to geo near query: %s", shellDocument(v.Data))
}

func nearDistance(name string, v Value, noNumber, negative mongoerr.Code) (float64, error) {
	if !v.IsNumber() {
		return 0, mongoerr.Errorf(noNumber, "%s must be a number", name)
	}
	f := v.AsFloat64()
	if !(f >= 0) {
		return 0, mongoerr.Errorf(negative, "%s must be non-negative", name)
	}
	return f, nil
}

// Path is the path that must have a geospatial index.
func (n *Near) Path() string { return dotted(n.at) }

// Kinds are the kinds of indexes by which the search can be done.
func (n *Near) Kinds() []string {
	switch {
	case n.onEarth:
		return []string{"2dsphere"}
	case n.sphere:
		return []string{"2dsphere", "2d"}
	}
	return []string{"2d"}
}

// Tree is the search as the real server writes it into errors of planning.
func (n *Near) Tree() string {
	sphere := "0"
	if n.sphere {
		sphere = "1"
	}
	return "Tree: GEONEAR  field=" + n.Path() + " maxdist=" + strconv.FormatFloat(n.max, 'g', 6, 64) + " isNearSphere=" + sphere +
		"\nSort: {}\nProj: {}\n"
}

// Flaw returns why a search in a 2d index with these limits cannot be, nil if it can.
func (n *Near) Flaw(low, high float64) error {
	if p := n.point; p.X >= low && p.X <= high && p.Y >= low && p.Y <= high {
		return nil
	}
	point := Object{{Name: "0", Value: Double(n.point.X)}, {Name: "1", Value: Double(n.point.Y)}}
	return mongoerr.Errorf(16433, "point not in interval of [ %s, %s ] :: caused by :: %s", limitText(low), limitText(high), DocumentText(point.Bytes()))
}

// onPath finds the nearest geometry on the path.
func (n *Near) onPath(_ path, doc []byte, m *Matching) bool {
	best, at := math.Inf(1), Value{}
	n.eachGeometry(doc, func(v Value, g *geo.Geometry) {
		if d := n.distance(g); d < best {
			best, at = d, v
		}
	})
	if math.IsInf(best, 1) || best < n.min || best > n.max {
		return false
	}
	if m != nil {
		m.Found.Distance, m.Found.Point = Double(best), at
	}
	return true
}

func (n *Near) onValue(Value, *Matching) bool { return false }

// distance is in meters, in radians or, on the plane, in the unit of the coordinates.
func (n *Near) distance(g *geo.Geometry) float64 {
	switch {
	case n.onEarth:
		return g.Meters(n.point)
	case n.sphere:
		return g.Meters(n.point) / geo.EarthRadius
	}
	return g.FlatDistance(n.point)
}

// eachGeometry calls visit with the geometries of a document: a value of the path, or the points of an array of them.
func (n *Near) eachGeometry(doc []byte, visit func(v Value, g *geo.Geometry)) {
	_ = onGeoPath(doc, n.at, func(v Value) error {
		if g := storedGeometry(v); g != nil {
			visit(v, g)
			return nil
		}
		if v.IsArray() {
			for _, e := range v.elements() {
				if g := storedGeometry(e); g != nil {
					visit(e, g)
				}
			}
		}
		return nil
	})
}

// searched counts the operators of a filter of which there may be one.
type searched struct {
	nears, texts int
	text         *TextSearch
	negated      bool // a $text is in a $nor
}

// Searches says which searches a filter may have that need an index.
type Searches struct{ Near, Text bool }

// checkSearches refuses searches that stand where they may not.
func (f *Filter) checkSearches(c *searched) error {
	f.near, f.text, f.flaw = nil, c.text, nil
	for _, n := range f.all {
		if p, ok := n.(*pathNode); ok {
			if near, ok := p.condition.(*Near); ok {
				f.near = near
			}
		}
	}
	switch {
	case c.texts > 1:
		return mongoerr.Errorf(mongoerr.BadValue, "Too many text expressions")
	case c.negated:
		return mongoerr.Errorf(mongoerr.BadValue, "text expression not allowed in nor")
	case c.nears > 1:
		return mongoerr.Errorf(mongoerr.BadValue, "Too many geoNear expressions")
	case c.nears == 1 && f.near == nil:
		return mongoerr.Errorf(mongoerr.BadValue, "geo $near must be top-level expr")
	case c.nears == 1 && c.texts == 1:
		return mongoerr.Errorf(mongoerr.BadValue, "text and geoNear not allowed in same query")
	}
	return nil
}

// Near returns the search by distance of a filter, nil if it has none.
func (f *Filter) Near() *Near { return f.near }
