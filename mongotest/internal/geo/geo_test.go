package geo

import (
	"testing"

	"github.com/golang/geo/r2"
)

func points(numbers ...float64) []r2.Point {
	list := make([]r2.Point, len(numbers)/2)
	for i := range list {
		list[i] = r2.Point{X: numbers[2*i], Y: numbers[2*i+1]}
	}
	return list
}

func polygon(t *testing.T, numbers ...float64) *Geometry {
	t.Helper()
	l, unique, err := NewLoop(points(numbers...))
	if err != nil || unique < 3 {
		t.Fatal(unique, err)
	}
	return NewPolygon([]Loop{l})
}

func line(t *testing.T, numbers ...float64) *Geometry {
	t.Helper()
	g, different := NewLine(points(numbers...))
	if g == nil {
		t.Fatal(different)
	}
	return g
}

func TestAShapeContainsItsBorder(t *testing.T) {
	square := polygon(t, 0, 0, 0, 5, 5, 5, 5, 0, 0, 0)
	for _, c := range []struct {
		about string
		shape Shape
		g     *Geometry
		want  bool
	}{
		{"a corner of a box", NewBox(r2.Point{X: 5, Y: 5}, r2.Point{}), NewPoint(r2.Point{X: 5, Y: 0}), true},
		{"a point beside a box", NewBox(r2.Point{X: 5, Y: 5}, r2.Point{}), NewPoint(r2.Point{X: 5.1, Y: 0}), false},
		{"a point on the border of a circle", Circle{Radius: 5}, NewPoint(r2.Point{X: 3, Y: 4}), true},
		{"a point outside a circle", Circle{Radius: 5}, NewPoint(r2.Point{X: 4, Y: 4}), false},
		{"a corner of a polygon on the plane", Ring(points(0, 0, 0, 5, 5, 5)), NewPoint(r2.Point{X: 5, Y: 5}), true},
		{"a point where a polygon crosses itself twice", Ring(points(0, 0, 4, 4, 4, 0, 0, 4)), NewPoint(r2.Point{X: 2, Y: 1}), false},
		{"a line is in no shape on the plane", NewBox(r2.Point{X: 9, Y: 9}, r2.Point{}), line(t, 1, 1, 2, 2), false},
		{"a corner of a polygon on the sphere", square, NewPoint(r2.Point{X: 5, Y: 5}), true},
		{"a point that is not on the sphere", square, NewPoint(r2.Point{X: 200, Y: 5}), false},
		{"a line in a polygon", square, line(t, 1, 1, 4, 4), true},
		{"a line that leaves a polygon and comes back", square, line(t, 1, 1, 6, 2, 1, 3), false},
		{"a polygon in itself", square, square, true},
		{"a larger polygon", square, polygon(t, -1, -1, -1, 6, 6, 6, 6, -1, -1, -1), false},
		{"a point in a circle on the sphere", NewCap(r2.Point{}, 0.1), NewPoint(r2.Point{X: 4, Y: 4}), true},
		{"a line that leaves a circle on the sphere", NewCap(r2.Point{}, 0.1), line(t, 0, 0, 9, 9), false},
	} {
		if got := c.shape.Contains(c.g); got != c.want {
			t.Errorf("%s: got %t", c.about, got)
		}
	}
}

func TestGeometriesIntersectWhereTheyHaveAPointInCommon(t *testing.T) {
	square := polygon(t, 0, 0, 0, 5, 5, 5, 5, 0, 0, 0)
	for _, c := range []struct {
		about string
		a, b  *Geometry
		want  bool
	}{
		{"a point and itself", NewPoint(r2.Point{X: 1}), NewPoint(r2.Point{X: 1}), true},
		{"a point on a line", NewPoint(r2.Point{X: 1}), line(t, 0, 0, 2, 0), true},
		{"two lines that cross", line(t, 0, 0, 2, 2), line(t, 0, 2, 2, 0), true},
		{"two lines beside each other", line(t, 0, 0, 2, 0), line(t, 0, 1, 2, 1), false},
		{"a line in a polygon", line(t, 1, 1, 2, 2), square, true},
		{"a line through a polygon", line(t, -1, 2, 6, 2), square, true},
		{"a line beside a polygon", line(t, -1, 6, 6, 7), square, false},
		{"a polygon in another", polygon(t, 1, 1, 1, 2, 2, 2, 1, 1), square, true},
		{"parts of a collection", Together([]*Geometry{NewPoint(r2.Point{X: 9, Y: 9}), line(t, 4, 4, 6, 6)}), square, true},
	} {
		if c.a.Intersects(c.b) != c.want || c.b.Intersects(c.a) != c.want {
			t.Errorf("%s: got %t and %t", c.about, c.a.Intersects(c.b), c.b.Intersects(c.a))
		}
	}
}

func TestALoopThatMeetsItselfIsRefused(t *testing.T) {
	for text, p := range map[string][]r2.Point{
		"Duplicate vertices: 1 and 3": points(0, 0, 0, 5, 5, 5, 0, 5, 0, 0),
		"Edges 0 and 2 cross. Edge locations in degrees: [0.0000000, 0.0000000]-[5.0000000, 5.0000000] and [5.0000000, 0.0000000]-[0.0000000, 5.0000000]": points(0, 0, 5, 5, 0, 5, 5, 0, 0, 0),
	} {
		if _, _, err := NewLoop(p); err == nil || err.Error() != text {
			t.Errorf("got %v, want %s", err, text)
		}
	}
}

func TestALineThatOnlyTouchesAPolygonDoesNotIntersectIt(t *testing.T) {
	square := polygon(t, 0, 0, 5, 0, 5, 5, 0, 5, 0, 0)
	for _, c := range []struct {
		about string
		l     *Geometry
		want  bool
	}{
		{"a line to a corner", line(t, -2, -2, 0, 0), false},
		{"a line into the polygon from a corner", line(t, 0, 0, 2, 2), true},
		{"an edge, with the polygon to its left", line(t, 0, 0, 5, 0), true},
		{"the same edge the other way round", line(t, 5, 0, 0, 0), false},
	} {
		if got := square.Intersects(c.l); got != c.want {
			t.Errorf("%s: got %t", c.about, got)
		}
	}
}
