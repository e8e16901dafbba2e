package expr

import (
	"math"
	"slices"

	"github.com/holdfast-db/holdfast/mongotest/internal/ordered"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// Sliding is an accumulator's state over a window of documents that moves: values leave it in the order in which they came. An add or a
// remove takes time that grows with the logarithm of the window's size. Some results differ from those of a State with the same values,
// because the real server has other accumulators for such windows: a sum has rounded what has left it again, and a set is sorted.
type Sliding struct{ values slider }

// slider is a collector that values leave again.
type slider interface {
	collector
	remove(v Value) // the oldest value
}

// Slide returns the state of an empty window.
func (a *Accumulator) Slide(env *Env) (*Sliding, error) {
	n, err := a.size(env)
	if err != nil {
		return nil, err
	}
	return &Sliding{newSlider(a.start(n))}, nil
}

// Least returns the state of $min over an empty window.
func Least() *Sliding { return &Sliding{&slidingExtremum{sign: -1, sorted: sortedValues()}} }

// Greatest returns the state of $max over an empty window.
func Greatest() *Sliding { return &Sliding{&slidingExtremum{sign: 1, sorted: sortedValues()}} }

// newSlider returns the slider that stands for a collector, nil if there is none.
func newSlider(c collector) slider {
	switch c := c.(type) {
	case *sum:
		return &slidingSum{mean: c.mean}
	case *deviation:
		return &slidingDeviation{sample: c.sample}
	case *extremum:
		return &slidingExtremum{sign: c.sign, sorted: sortedValues()}
	case *push:
		return &slidingList{push{memory: c.memory}}
	case *some:
		return &slidingSome{some: c}
	case *addToSet:
		return &slidingSet{sorted: sortedValues(), memory: c.memory}
	case *arrays:
		return &slidingArrays{arrays{c.name, newSlider(c.into)}}
	case *extremes:
		return &slidingExtremes{n: c.n, greatest: c.heap.Less(query.Int32(1), query.Int32(0)), sorted: sortedValues()}
	case *percentile:
		return &slidingPercentile{percentile: c, sorted: ordered.Tree[float64, float64]{Compare: compareFloats}}
	case *ranked:
		return &slidingRanked{ranked: c, sorted: ordered.Tree[[]Value, Value]{Compare: c.order.CompareKeys}}
	}
	return nil
}

// Add takes the input's value for the document that enters the window.
func (s *Sliding) Add(v Value) error { return s.values.add(v) }

// Remove takes the input's value for the document that leaves the window: the one that entered it before all others in it.
func (s *Sliding) Remove(v Value) { s.values.remove(v) }

// Result returns the value for the documents in the window.
func (s *Sliding) Result(w *query.Work) (Value, error) {
	v := s.values.result()
	return v, w.Bytes(len(v.Data))
}

func sortedValues() ordered.Tree[Value, Value] {
	return ordered.Tree[Value, Value]{Compare: query.Compare}
}

// slidingExtremum is $min and $max.
type slidingExtremum struct {
	sign   int
	sorted ordered.Tree[Value, Value]
}

func (e *slidingExtremum) add(v Value) error {
	if !v.IsNullish() {
		e.sorted.Add(v, v)
	}
	return nil
}

func (e *slidingExtremum) remove(v Value) {
	if !v.IsNullish() {
		e.sorted.Remove(v)
	}
}

func (e *slidingExtremum) result() Value {
	switch n := e.sorted.Len(); {
	case n == 0:
		return null
	case e.sign < 0:
		return e.sorted.At(0)
	default:
		return e.sorted.At(n - 1)
	}
}

// slidingList is $push.
type slidingList struct{ push }

func (l *slidingList) remove(v Value) {
	if !v.Missing() {
		l.values = l.values[1:]
		l.memory.remove(v)
	}
}

// slidingSome is $firstN and $lastN.
type slidingSome struct {
	*some
	all []Value
}

func (s *slidingSome) add(v Value) error {
	s.all = append(s.all, orNull(v))
	return nil
}

func (s *slidingSome) remove(Value) { s.all = s.all[1:] }

func (s *slidingSome) result() Value {
	if s.last {
		return array(s.all[max(0, len(s.all)-s.n):])
	}
	return array(s.all[:min(s.n, len(s.all))])
}

// slidingSet is $addToSet: sorted, and of equal values the one that came first.
type slidingSet struct {
	sorted ordered.Tree[Value, Value]
	memory kept
}

func (s *slidingSet) add(v Value) error {
	if v.Missing() {
		return nil
	}
	s.sorted.Add(v, v)
	return s.memory.add(v, 64)
}

func (s *slidingSet) remove(v Value) {
	if !v.Missing() {
		s.sorted.Remove(v)
		s.memory.remove(v)
	}
}

func (s *slidingSet) result() Value {
	var list []Value
	s.sorted.Nodes(false, func(equal []Value) bool {
		list = append(list, equal[0])
		return true
	})
	return array(list)
}

// slidingArrays is $concatArrays and $setUnion.
type slidingArrays struct{ arrays }

func (a *slidingArrays) remove(v Value) {
	if !v.Missing() {
		for _, e := range query.Elements(v.Data) {
			a.into.(slider).remove(e)
		}
	}
}

// slidingExtremes is $minN and $maxN.
type slidingExtremes struct {
	n        int
	greatest bool
	sorted   ordered.Tree[Value, Value]
}

func (e *slidingExtremes) add(v Value) error {
	if !v.IsNullish() {
		e.sorted.Add(v, v)
	}
	return nil
}

func (e *slidingExtremes) remove(v Value) {
	if !v.IsNullish() {
		e.sorted.Remove(v)
	}
}

func (e *slidingExtremes) result() Value {
	var list []Value
	e.sorted.Nodes(e.greatest, func(equal []Value) bool {
		equal = equal[:min(len(equal), e.n-len(list))]
		list = append(list, equal...)
		return len(list) < e.n
	})
	return array(list)
}

// slidingPercentile is $median and $percentile.
type slidingPercentile struct {
	*percentile
	sorted ordered.Tree[float64, float64]
}

func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (p *slidingPercentile) add(v Value) error {
	if f := v.AsFloat64(); v.IsNumber() && !math.IsNaN(f) {
		p.sorted.Add(f, f)
	}
	return nil
}

func (p *slidingPercentile) remove(v Value) {
	if f := v.AsFloat64(); v.IsNumber() && !math.IsNaN(f) {
		p.sorted.Remove(f)
	}
}

func (p *slidingPercentile) result() Value { return p.of(p.sorted.Len(), p.sorted.At) }

// slidingRanked is $top, $bottom, $topN and $bottomN: of outputs with equal keys the last come last, at the bottom too.
type slidingRanked struct {
	*ranked
	sorted ordered.Tree[[]Value, Value]
}

func (r *slidingRanked) add(pair Value) error {
	r.sorted.Add(r.key(pair), query.Lookup(pair.Data, "1"))
	return nil
}

func (r *slidingRanked) remove(pair Value) { r.sorted.Remove(r.key(pair)) }

func (r *slidingRanked) result() Value {
	size := r.sorted.Len()
	n := min(r.n, size)
	outputs := make([]Value, 0, n)
	r.sorted.Nodes(r.bottom, func(equal []Value) bool {
		more := equal[:min(len(equal), n-len(outputs))]
		if r.bottom {
			more = slices.Clone(equal[len(equal)-len(more):])
			slices.Reverse(more)
		}
		outputs = append(outputs, more...)
		return len(outputs) < n
	})
	if r.bottom {
		slices.Reverse(outputs)
	}
	return r.value(outputs)
}
