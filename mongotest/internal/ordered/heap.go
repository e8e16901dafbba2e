package ordered

import "github.com/holdfast-db/holdfast/mongotest/internal/query"

// Heap is a binary heap, the greatest by its order at the root. $minN and its kin show in which order values that compare
// equal come out of one, so it moves them as the real server's does: what takes the root's place sinks to the bottom first,
// and then rises.
type Heap struct {
	Values []query.Value
	Less   func(a, b query.Value) bool
}

// Push adds a value.
func (h *Heap) Push(v query.Value) {
	h.Values = append(h.Values, v)
	h.rise(len(h.Values)-1, v)
}

// rise puts v at a place or above it.
func (h *Heap) rise(at int, v query.Value) {
	for at > 0 {
		parent := (at - 1) / 2
		if !h.Less(h.Values[parent], v) {
			break
		}
		h.Values[at], at = h.Values[parent], parent
	}
	h.Values[at] = v
}

// Pop moves the root behind a heap of the first n-1 values, where n are one.
func (h *Heap) Pop(n int) {
	n--
	v, root := h.Values[n], h.Values[0]
	at := 0
	for child := 1; child < n; child = 2*at + 1 {
		if other := child + 1; other < n && !h.Less(h.Values[other], h.Values[child]) {
			child = other
		}
		h.Values[at], at = h.Values[child], child
	}
	h.rise(at, v)
	h.Values[n] = root
}

// Sort takes all values out, so that the least comes first. It is a heap no more.
func (h *Heap) Sort() []query.Value {
	for n := len(h.Values); n > 1; n-- {
		h.Pop(n)
	}
	return h.Values
}
