package geo

import (
	"math"
	"math/big"
	"testing"

	"github.com/golang/geo/r2"
)

// precise returns the sine of a number by its series, with 200 bits.
func precise(x float64) float64 {
	square := new(big.Float).SetPrec(200).SetFloat64(x)
	term := new(big.Float).Copy(square)
	square.Mul(square, square)
	total := new(big.Float).Copy(term)
	for n := 1.0; n < 60; n += 2 {
		term.Mul(term, square)
		term.Quo(term, new(big.Float).SetFloat64(-(n+1)*(n+2)))
		total.Add(total, term)
	}
	f, _ := total.Float64()
	return f
}

func TestSinesAreExactToTheLastDigit(t *testing.T) {
	for i := range 2000 {
		x := float64(i-1000) / 1000 * math.Pi
		if sine, _ := sineCosine(x); sine.value() != precise(x) {
			t.Errorf("sine of %v: got %v, want %v", x, sine.value(), precise(x))
		}
	}
}

func TestDistances(t *testing.T) {
	at := r2.Point{X: 0.5, Y: 0.2}
	for _, c := range []struct {
		about string
		g     *Geometry
		want  float64
	}{
		{"a point", NewPoint(r2.Point{X: 10, Y: 10}), 1515537.5871670102},
		{"a point that is not on the sphere", NewPoint(r2.Point{X: 200, Y: 10}), math.Inf(1)},
		{"a line", line(t, 2, 2, 3, 5, 9, 9), 260804.2924315781},
		{"a polygon around the point", polygon(t, 0, 0, 5, 0, 5, 5, 0, 0), 0},
	} {
		if got := c.g.Meters(at); got != c.want {
			t.Errorf("%s: got %v, want %v", c.about, got, c.want)
		}
	}
	if got := NewPoint(r2.Point{X: 3.5, Y: 4.2}).FlatDistance(at); got != 5 {
		t.Errorf("on the plane: got %v", got)
	}
}
