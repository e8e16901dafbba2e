package geo

import (
	"fmt"
	"slices"

	"github.com/golang/geo/r2"
	"github.com/golang/geo/r3"
	"github.com/golang/geo/s1"
	"github.com/golang/geo/s2"
)

// Geometry is a geometry of a document or a query: a point, a line, a polygon, or several of these.
type Geometry struct {
	points   []s2.Point
	lines    []*s2.Polyline
	polygons []*s2.Polygon
	flat     *r2.Point // of a single point
}

// OnEarth reports whether numbers are a longitude and a latitude in degrees.
func OnEarth(p r2.Point) bool { return p.X >= -180 && p.X <= 180 && p.Y >= -90 && p.Y <= 90 }

func onSphere(p r2.Point) s2.Point {
	place := s2.LatLngFromDegrees(p.Y, p.X)
	z, around := sineCosine(place.Lat.Radians())
	y, x := sineCosine(place.Lng.Radians())
	return s2.Point{Vector: r3.Vector{X: x.value() * around.value(), Y: y.value() * around.value(), Z: z.value()}}
}

// NewPoint returns a point. One that is not OnEarth lies only on the plane.
func NewPoint(p r2.Point) *Geometry {
	if !OnEarth(p) {
		return &Geometry{flat: &p}
	}
	return &Geometry{flat: &p, points: []s2.Point{onSphere(p)}}
}

// NewLine returns a line, or how many different neighbours its points are if that are fewer than two.
func NewLine(points []r2.Point) (g *Geometry, different int) {
	line := s2.Polyline(distinct(points))
	if len(line) < 2 {
		return nil, len(line)
	}
	return &Geometry{lines: []*s2.Polyline{&line}}, len(line)
}

func distinct(points []r2.Point) []s2.Point {
	points = slices.Compact(slices.Clone(points))
	list := make([]s2.Point, len(points))
	for i, p := range points {
		list[i] = onSphere(p)
	}
	return list
}

// Loop is a closed line around a part of the sphere of at most a hemisphere.
type Loop struct{ loop *s2.Loop }

// NewLoop returns a loop of points, the last of which is the first. Its error is the engine's text for one that is no loop: unique is how many
// different points there are if that are fewer than three.
func NewLoop(points []r2.Point) (loop Loop, unique int, err error) {
	vertices := distinct(points)
	vertices = vertices[:len(vertices)-1]
	if len(vertices) < 3 {
		return Loop{}, len(vertices), nil
	}
	if err := simple(vertices); err != nil {
		return Loop{}, len(vertices), err
	}
	l := s2.LoopFromPoints(vertices)
	l.Normalize()
	return Loop{l}, len(vertices), nil
}

// simple returns an error if a loop meets itself.
func simple(vertices []s2.Point) error {
	seen := make(map[r3.Vector]int, len(vertices))
	for i, v := range vertices {
		if first, again := seen[v.Vector]; again {
			return fmt.Errorf("Duplicate vertices: %d and %d", first, i) //nolint:staticcheck // the engine's text
		}
		seen[v.Vector] = i
	}
	loop := s2.LoopFromPoints(vertices)
	index := s2.NewShapeIndex()
	index.Add(loop)
	crossings := s2.NewCrossingEdgeQuery(index)
	for i := range vertices {
		edge := loop.Edge(i)
		for _, j := range crossings.Crossings(edge.V0, edge.V1, loop, s2.CrossingTypeInterior) {
			if j > i {
				return fmt.Errorf("Edges %d and %d cross. Edge locations in degrees: %s and %s", i, j, located(edge), located(loop.Edge(j))) //nolint:staticcheck // the engine's text
			}
		}
	}
	return nil
}

func located(e s2.Edge) string {
	a, b := s2.LatLngFromPoint(e.V0), s2.LatLngFromPoint(e.V1)
	return fmt.Sprintf("[%.7f, %.7f]-[%.7f, %.7f]", a.Lat.Degrees(), a.Lng.Degrees(), b.Lat.Degrees(), b.Lng.Degrees())
}

// Holds reports whether another loop lies in this one.
func (l Loop) Holds(other Loop) bool { return l.loop.Contains(other.loop) }

// NewPolygon returns the polygon of an outer loop and its holes.
func NewPolygon(loops []Loop) *Geometry {
	list := make([]*s2.Loop, len(loops))
	for i, l := range loops {
		list[i] = l.loop
	}
	return &Geometry{polygons: []*s2.Polygon{s2.PolygonFromLoops(list)}}
}

// Together returns the geometry of several parts.
func Together(parts []*Geometry) *Geometry {
	var all Geometry
	for _, p := range parts {
		all.points = append(all.points, p.points...)
		all.lines = append(all.lines, p.lines...)
		all.polygons = append(all.polygons, p.polygons...)
	}
	return &all
}

func (g *Geometry) empty() bool { return len(g.points)+len(g.lines)+len(g.polygons) == 0 }

// Contains reports whether every part of a geometry lies in one of the polygons.
func (g *Geometry) Contains(other *Geometry) bool {
	for _, p := range other.points {
		if !slices.ContainsFunc(g.polygons, func(area *s2.Polygon) bool { return meetsPoint(area, p) }) {
			return false
		}
	}
	for _, l := range other.lines {
		if !slices.ContainsFunc(g.polygons, func(area *s2.Polygon) bool { return holdsLine(area, l) }) {
			return false
		}
	}
	for _, p := range other.polygons {
		if !slices.ContainsFunc(g.polygons, func(area *s2.Polygon) bool { return area.Contains(p) }) {
			return false
		}
	}
	return !other.empty()
}

// meetsPoint reports whether a point is in a polygon or, by the size of the smallest cell of the sphere, on its border.
func meetsPoint(area *s2.Polygon, p s2.Point) bool {
	return area.IntersectsCell(s2.CellFromPoint(p))
}

// holdsLine reports whether all of a line is in a polygon.
func holdsLine(area *s2.Polygon, line *s2.Polyline) bool {
	for i := range line.NumEdges() {
		if crosses, inside := along(area, line.Edge(i)); crosses || !inside {
			return false
		}
	}
	return true
}

// meetsLine reports whether a part of a line is in a polygon. A line that only touches a corner is not.
func meetsLine(area *s2.Polygon, line *s2.Polyline) bool {
	for i := range line.NumEdges() {
		if crosses, inside := along(area, line.Edge(i)); crosses || inside {
			return true
		}
	}
	return false
}

// along reports whether an edge crosses the border of a polygon and, if not, whether it is inside. An edge of the polygon itself is inside
// if the polygon is to the left of it, so that each belongs to one of two polygons that share it.
func along(area *s2.Polygon, e s2.Edge) (crosses, inside bool) {
	index := s2.NewShapeIndex()
	index.Add(area)
	for _, i := range s2.NewCrossingEdgeQuery(index).Crossings(e.V0, e.V1, area, s2.CrossingTypeAll) {
		switch border := area.Edge(i); {
		case border == e:
			return false, true
		case border.V0 == e.V1 && border.V1 == e.V0:
			return false, false
		case s2.CrossingSign(e.V0, e.V1, border.V0, border.V1) == s2.Cross:
			crosses = true
		}
	}
	return crosses, area.ContainsPoint(s2.Interpolate(0.5, e.V0, e.V1))
}

// Intersects reports whether two geometries have a point in common.
func (g *Geometry) Intersects(other *Geometry) bool {
	return g.meets(other) || other.meets(g)
}

// meets reports whether a part of the geometry meets one of the other's parts of the same or a higher dimension.
func (g *Geometry) meets(other *Geometry) bool {
	for _, p := range g.points {
		cell := s2.CellFromPoint(p)
		if slices.ContainsFunc(other.points, func(o s2.Point) bool { return s2.CellFromPoint(o).ID() == cell.ID() }) ||
			slices.ContainsFunc(other.lines, func(o *s2.Polyline) bool { return o.IntersectsCell(cell) }) ||
			slices.ContainsFunc(other.polygons, func(o *s2.Polygon) bool { return o.IntersectsCell(cell) }) {
			return true
		}
	}
	for _, l := range g.lines {
		if slices.ContainsFunc(other.lines, l.Intersects) || slices.ContainsFunc(other.polygons, func(o *s2.Polygon) bool {
			return meetsLine(o, l)
		}) {
			return true
		}
	}
	for _, p := range g.polygons {
		if slices.ContainsFunc(other.polygons, p.Intersects) {
			return true
		}
	}
	return false
}

// IsArea reports whether there are only polygons: what a geometry may lie in.
func (g *Geometry) IsArea() bool { return len(g.polygons) > 0 && len(g.points)+len(g.lines) == 0 }

// OnlyFlat reports whether it is a point that does not lie on the sphere.
func (g *Geometry) OnlyFlat() bool { return g.empty() && g.flat != nil }

// Cap is a circle on the sphere, with its border.
type Cap struct{ region s2.Cap }

// NewCap returns the points around a center up to an angle in radians.
func NewCap(center r2.Point, radians float64) Cap {
	return Cap{s2.CapFromCenterAngle(onSphere(center), s1.Angle(radians))}
}

// Contains reports whether all corners of a geometry are in the circle.
func (c Cap) Contains(g *Geometry) bool {
	outside := func(p s2.Point) bool { return !c.region.ContainsPoint(p) }
	for _, l := range g.lines {
		if slices.ContainsFunc(*l, outside) {
			return false
		}
	}
	for _, p := range g.polygons {
		for _, l := range p.Loops() {
			if slices.ContainsFunc(l.Vertices(), outside) {
				return false
			}
		}
	}
	return !g.empty() && !slices.ContainsFunc(g.points, outside)
}
