package expr

// heap is a binary heap, the greatest by its order at the root. $minN and its kin show in which order values that compare
// equal come out of one, so it moves them as the real server's does: what takes the root's place sinks to the bottom first,
// and then rises.
type heap struct {
	values []Value
	less   func(a, b Value) bool
}

func (h *heap) push(v Value) {
	h.values = append(h.values, v)
	h.rise(len(h.values)-1, v)
}

// rise puts v at a place or above it.
func (h *heap) rise(at int, v Value) {
	for at > 0 {
		parent := (at - 1) / 2
		if !h.less(h.values[parent], v) {
			break
		}
		h.values[at], at = h.values[parent], parent
	}
	h.values[at] = v
}

// pop moves the root behind a heap of the first n-1 values, where n are one.
func (h *heap) pop(n int) {
	n--
	v, root := h.values[n], h.values[0]
	at := 0
	for child := 1; child < n; child = 2*at + 1 {
		if other := child + 1; other < n && !h.less(h.values[other], h.values[child]) {
			child = other
		}
		h.values[at], at = h.values[child], child
	}
	h.rise(at, v)
	h.values[n] = root
}

// sort takes all values out, so that the least comes first. It is a heap no more.
func (h *heap) sort() []Value {
	for n := len(h.values); n > 1; n-- {
		h.pop(n)
	}
	return h.values
}
