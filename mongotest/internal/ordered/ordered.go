// Package ordered keeps values in an order: a tree that finds, adds and removes them, and a heap of the greatest.
package ordered

// Tree holds values by keys in the keys' order: a treap, in which a value is added, removed or found by its place in time that
// grows with the logarithm of their number.
type Tree[K, V any] struct {
	Compare func(a, b K) int
	root    *orderedNode[K, V]
	seed    uint64
}

// orderedNode holds the values of all keys that compare equal, in the order in which they came.
type orderedNode[K, V any] struct {
	key         K
	values      []V
	priority    uint64 // no less than that of the nodes below
	size        int    // of all values in this node and below
	left, right *orderedNode[K, V]
}

func (n *orderedNode[K, V]) count() int {
	if n == nil {
		return 0
	}
	return n.size
}

func (n *orderedNode[K, V]) recount() *orderedNode[K, V] {
	n.size = len(n.values) + n.left.count() + n.right.count()
	return n
}

// Len returns how many values there are.
func (o *Tree[K, V]) Len() int { return o.root.count() }

// Add puts a value behind those with an equal key.
func (o *Tree[K, V]) Add(key K, v V) { o.root = o.insert(o.root, key, v) }

func (o *Tree[K, V]) insert(n *orderedNode[K, V], key K, v V) *orderedNode[K, V] {
	if n == nil {
		return &orderedNode[K, V]{key: key, values: []V{v}, priority: o.random(), size: 1}
	}
	switch c := o.Compare(key, n.key); {
	case c == 0:
		n.values = append(n.values, v)
	case c < 0:
		if n.left = o.insert(n.left, key, v); n.left.priority > n.priority {
			return n.turnRight()
		}
	default:
		if n.right = o.insert(n.right, key, v); n.right.priority > n.priority {
			return n.turnLeft()
		}
	}
	return n.recount()
}

func (n *orderedNode[K, V]) turnRight() *orderedNode[K, V] {
	top := n.left
	n.left, top.right = top.right, n
	n.recount()
	return top.recount()
}

func (n *orderedNode[K, V]) turnLeft() *orderedNode[K, V] {
	top := n.right
	n.right, top.left = top.left, n
	n.recount()
	return top.recount()
}

// random returns the next of numbers that are as good as random, the same for each ordered (splitmix64).
func (o *Tree[K, V]) random() uint64 {
	o.seed += 0x9e3779b97f4a7c15
	x := o.seed
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Remove takes out the value that came first of those with a key. There must be one.
func (o *Tree[K, V]) Remove(key K) { o.root = o.without(o.root, key) }

func (o *Tree[K, V]) without(n *orderedNode[K, V], key K) *orderedNode[K, V] {
	switch c := o.Compare(key, n.key); {
	case c < 0:
		n.left = o.without(n.left, key)
	case c > 0:
		n.right = o.without(n.right, key)
	case len(n.values) == 1:
		return joinNodes(n.left, n.right)
	default:
		n.values = n.values[1:]
	}
	return n.recount()
}

// joinNodes returns one tree of two, all of whose keys are less in the first.
func joinNodes[K, V any](a, b *orderedNode[K, V]) *orderedNode[K, V] {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a.priority > b.priority:
		a.right = joinNodes(a.right, b)
		return a.recount()
	}
	b.left = joinNodes(a, b.left)
	return b.recount()
}

// At returns the i-th value in the order of the keys.
func (o *Tree[K, V]) At(i int) V {
	for n := o.root; ; {
		before := n.left.count()
		switch {
		case i < before:
			n = n.left
		case i < before+len(n.values):
			return n.values[i-before]
		default:
			i -= before + len(n.values)
			n = n.right
		}
	}
}

// Nodes calls visit with the values of each key, from the least or from the greatest on, until it returns false.
func (o *Tree[K, V]) Nodes(fromGreatest bool, visit func(values []V) bool) {
	o.root.walk(fromGreatest, visit)
}

func (n *orderedNode[K, V]) walk(back bool, visit func(values []V) bool) bool {
	if n == nil {
		return true
	}
	first, second := n.left, n.right
	if back {
		first, second = second, first
	}
	return first.walk(back, visit) && visit(n.values) && second.walk(back, visit)
}
