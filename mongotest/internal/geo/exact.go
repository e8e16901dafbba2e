package geo

import "math"

// The standard library's trigonometric functions differ in the last digit from one processor to the next, and from those of C, which the
// real server uses. These are exact to the last digit.

// double is the unevaluated sum of two numbers, with some 32 digits.
type double struct{ high, low float64 }

// halfPi is half of pi as the sum of three numbers.
var halfPi = [3]float64{1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33}

func sum(a, b float64) double {
	s := a + b
	t := s - a
	return double{s, (a - (s - t)) + (b - t)}
}

func (a double) plus(b double) double {
	s, t := sum(a.high, b.high), sum(a.low, b.low)
	s = sum(s.high, s.low+t.high)
	return sum(s.high, s.low+t.low)
}

func (a double) times(b double) double {
	p := a.high * b.high
	e := math.FMA(a.high, b.high, -p)
	return sum(p, e+(a.high*b.low+a.low*b.high))
}

func (a double) over(n float64) double {
	q := a.high / n
	rest := math.FMA(-q, n, a.high) + a.low
	return sum(q, rest/n)
}

func (a double) negative() double { return double{-a.high, -a.low} }

// value returns the nearest number.
func (a double) value() float64 { return a.high + a.low }

// series adds x^n/n! - x^(n+2)/(n+2)! + ..., beginning with a term.
func series(term, square double, n float64) double {
	total := term
	for ; n < 30; n += 2 {
		term = term.times(square).over(-(n + 1) * (n + 2))
		total = total.plus(term)
	}
	return total
}

// sineCosine returns the sine and the cosine of an angle between -2 pi and 2 pi.
func sineCosine(x float64) (sine, cosine double) {
	quarter := math.Round(x / halfPi[0])
	r := sum(math.FMA(-quarter, halfPi[0], x), 0)
	second := quarter * halfPi[1]
	r = r.plus(double{-second, -math.FMA(quarter, halfPi[1], -second)})
	r = r.plus(double{-quarter * halfPi[2], 0})
	square := r.times(r)
	s, c := series(r, square, 1), series(double{1, 0}, square, 0)
	switch int(quarter) & 3 {
	case 1:
		return c, s.negative()
	case 2:
		return s.negative(), c.negative()
	case 3:
		return c.negative(), s
	}
	return s, c
}

// angle returns the angle of a vector, from 0 to pi for a y that is not negative.
func angle(y, x float64) float64 {
	a := math.Atan2(y, x)
	s, c := sineCosine(a)
	off := double{y, 0}.times(c).plus(double{x, 0}.times(s).negative())
	along := double{x, 0}.times(c).plus(double{y, 0}.times(s))
	if along.high == 0 {
		return a
	}
	return a + off.value()/along.value()
}

// arcSine returns the angle of a sine from 0 on; one above 1 counts as 1.
func arcSine(sine float64) float64 {
	a := math.Asin(math.Min(1, sine))
	s, c := sineCosine(a)
	if c.high < 1e-8 {
		return a
	}
	return a + double{sine, 0}.plus(s.negative()).value()/c.value()
}
