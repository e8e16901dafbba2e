package query

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// condition is what a filter asks of the values on a path, or of one value (in $elemMatch and $pull).
type condition interface {
	onPath(p path, doc []byte, m *Matching) bool
	onValue(v Value, m *Matching) bool
}

// predicate is a test of a single value.
type predicate interface {
	test(v Value, m *Matching) bool
}

// leaf makes a condition of a predicate. With expand, an array is looked into before it is looked at.
type leaf struct {
	predicate
	expand bool
}

func (l *leaf) onPath(p path, doc []byte, m *Matching) bool {
	return p.walk(doc, func(v Value, at spot) bool { return l.testExpanded(v, at, m) })
}

func (l *leaf) testExpanded(v Value, at spot, m *Matching) bool {
	if l.expand && !at.indexed && v.IsArray() {
		it := wire.Elements(v.Data)
		for n := 0; it.Next(); n++ {
			if !m.goOn() {
				return false
			}
			if l.test(Of(it.Element), m) {
				m.found(at.into(n).element)
				return true
			}
		}
	}
	if l.test(v, m) {
		m.found(at.element)
		return true
	}
	return false
}

func (l *leaf) onValue(v Value, m *Matching) bool { return l.test(v, m) }

// equality is a leaf that can be recognized, because upserts and _id look-ups need its value.
type equality struct {
	leaf
	value Value
	by    Collation // nil if strings are compared by their bytes
}

func newEquality(v Value) *equality {
	return &equality{leaf: leaf{predicate: equalTo{v}, expand: true}, value: v}
}

type equalTo struct{ value Value }

// test has it that null is not undefined, as it is since 8.0.
func (p equalTo) test(v Value, _ *Matching) bool {
	if p.value.Type == bson.TypeNull {
		return v.Missing() || v.Type == bson.TypeNull
	}
	return !v.Missing() && Equal(v, p.value)
}

// not inverts conditions that must all hold.
type not []condition

// onPath notes no element: a condition that is not met was met by none.
func (n not) onPath(p path, doc []byte, m *Matching) bool {
	defer m.restore(m.save())
	for _, c := range n {
		if !c.onPath(p, doc, m) {
			return true
		}
	}
	return false
}

func (n not) onValue(v Value, m *Matching) bool {
	for _, c := range n {
		if !c.onValue(v, m) {
			return true
		}
	}
	return false
}

// every is conditions that must all hold.
type every []condition

func (a every) onPath(p path, doc []byte, m *Matching) bool {
	if len(a) > many && a.areEqualities() {
		values := equalAt(p, doc)
		for _, c := range a {
			if !values.Has(c.(*equality).value) {
				return false
			}
		}
		a = a[len(a)-1:] // which notes the element
	}
	for _, c := range a {
		if !c.onPath(p, doc, m) {
			return false
		}
	}
	return true
}

// areEqualities reports whether all conditions ask for a value that is there.
func (a every) areEqualities() bool {
	for _, c := range a {
		if e, ok := c.(*equality); !ok || e.by != nil || e.value.IsNullish() {
			return false
		}
	}
	return true
}

// equalAt returns the values that a condition on a path may equal.
func equalAt(p path, doc []byte) *ValueSet {
	var values ValueSet
	p.walk(doc, func(v Value, at spot) bool {
		values.Add(v)
		if !at.indexed && v.IsArray() {
			for _, e := range v.elements() {
				values.Add(e)
			}
		}
		return false
	})
	return &values
}

func (a every) onValue(v Value, m *Matching) bool {
	for _, c := range a {
		if !c.onValue(v, m) {
			return false
		}
	}
	return true
}

// never is met by nothing: an empty $all.
type never struct{}

func (never) onPath(path, []byte, *Matching) bool { return false }
func (never) onValue(Value, *Matching) bool       { return false }
