package geo

import (
	"math"

	"github.com/golang/geo/r2"
)

// Shape is what a geometry of a document may lie in.
type Shape interface {
	Contains(g *Geometry) bool
}

// Box is a rectangle on the plane, with its border.
type Box struct{ rect r2.Rect }

// NewBox returns the rectangle between any two opposite corners.
func NewBox(a, b r2.Point) Box { return Box{r2.RectFromPoints(a, b)} }

// Contains reports whether a geometry is a point in the rectangle.
func (b Box) Contains(g *Geometry) bool {
	return g.flat != nil && b.rect.ContainsPoint(*g.flat)
}

// Circle is a circle on the plane, with its border.
type Circle struct {
	Center r2.Point
	Radius float64
}

// Contains reports whether a geometry is a point in the circle.
func (c Circle) Contains(g *Geometry) bool {
	return g.flat != nil && math.Hypot(g.flat.X-c.Center.X, g.flat.Y-c.Center.Y) <= c.Radius
}

// Ring is a polygon on the plane, with its border. Its edges may cross: a point is inside if a ray from it meets an odd number of them.
type Ring []r2.Point

// Contains reports whether a geometry is a point in the polygon.
func (r Ring) Contains(g *Geometry) bool {
	if g.flat == nil {
		return false
	}
	inside := false
	for i := range r {
		crosses, on := ray(*g.flat, r[i], r[(i+1)%len(r)])
		if on {
			return true
		}
		inside = inside != crosses
	}
	return inside
}

// ray reports whether the ray from a point to the right crosses an edge, and whether the point is on a corner or on an edge along one of the
// axes. Points on other edges are as the crossing has them.
func ray(p, a, b r2.Point) (crosses, on bool) {
	left, right := math.Min(a.X, b.X), math.Max(a.X, b.X)
	low, high := math.Min(a.Y, b.Y), math.Max(a.Y, b.Y)
	switch {
	case p == a:
		return false, true
	case a.Y == b.Y:
		return false, p.Y == a.Y && p.X >= left && p.X <= right
	case p.Y <= low || p.Y > high || p.X > right:
		return false, false
	case a.X == b.X:
		return true, p.X == a.X
	}
	return p.X <= (p.Y-a.Y)*(b.X-a.X)/(b.Y-a.Y)+a.X, false
}
