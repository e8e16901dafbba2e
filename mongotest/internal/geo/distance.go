package geo

import (
	"math"

	"github.com/golang/geo/r2"
	"github.com/golang/geo/r3"
	"github.com/golang/geo/s2"
)

// EarthRadius is the radius of the earth in meters by which MongoDB turns angles into distances.
const EarthRadius = 6378100.0

// FlatDistance returns the distance between two points on the plane. It is +Inf from anything that is no point.
func (g *Geometry) FlatDistance(from r2.Point) float64 {
	if g.flat == nil {
		return math.Inf(1)
	}
	x, y := g.flat.X-from.X, g.flat.Y-from.Y
	return math.Sqrt(x*x + y*y)
}

// Meters returns the distance on the sphere in meters from a point to the nearest part of a geometry, +Inf if the geometry has no part on
// the sphere. It is 0 inside a polygon.
func (g *Geometry) Meters(from r2.Point) float64 {
	center := onSphere(from)
	least := math.Inf(1)
	for _, p := range g.points {
		least = math.Min(least, between(center, p))
	}
	for _, l := range g.lines {
		least = math.Min(least, lineAngle(l, center))
	}
	for _, p := range g.polygons {
		least = math.Min(least, polygonAngle(p, center))
	}
	return least * EarthRadius
}

func lineAngle(l *s2.Polyline, p s2.Point) float64 { return nearestAngle(l.NumEdges(), l.Edge, p) }

func polygonAngle(area *s2.Polygon, p s2.Point) float64 {
	if meetsPoint(area, p) {
		return 0
	}
	return nearestAngle(area.NumEdges(), area.Edge, p)
}

// nearestAngle returns the angle between a point and the nearest of n edges.
func nearestAngle(n int, at func(i int) s2.Edge, p s2.Point) float64 {
	least, nearest := math.Inf(1), 0
	for i := range n {
		if a := edgeOf(at(i)).angle(p); a < least {
			least, nearest = a, i
		}
	}
	return between(p, edgeOf(at(nearest)).nearest(p))
}

// edge is a part of a great circle.
type edge struct {
	s2.Edge
	axis r3.Vector // of the circle
}

func edgeOf(e s2.Edge) edge { return edge{e, e.V0.PointCross(e.V1).Vector} }

// beside reports whether a point is beside the edge: it is nearer to something between its ends than to these.
func (e edge) beside(p r3.Vector) bool {
	return p.Cross(e.axis).Dot(e.V0.Vector) > 0 && e.axis.Cross(p).Dot(e.V1.Vector) > 0
}

// angle returns the angle between a point and the nearest point of the edge.
func (e edge) angle(p s2.Point) float64 {
	if e.beside(p.Vector) {
		return arcSine(math.Abs(p.Dot(e.axis)) / e.axis.Norm())
	}
	chord := math.Min(p.Sub(e.V0.Vector).Norm2(), p.Sub(e.V1.Vector).Norm2())
	return 2 * arcSine(0.5*math.Sqrt(chord))
}

// nearest returns the point of the edge that is nearest to another one.
func (e edge) nearest(p s2.Point) s2.Point {
	on := p.Sub(e.axis.Mul(p.Dot(e.axis) / e.axis.Norm2()))
	switch {
	case e.beside(on):
		return s2.Point{Vector: on.Normalize()}
	case p.Sub(e.V0.Vector).Norm2() <= p.Sub(e.V1.Vector).Norm2():
		return e.V0
	}
	return e.V1
}

// between returns the angle between two points.
func between(a, b s2.Point) float64 {
	return angle(a.Cross(b.Vector).Norm(), a.Dot(b.Vector))
}
