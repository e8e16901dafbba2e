package query

import (
	"strconv"
	"strings"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// path is a dotted path, split once.
type path []string

func splitPath(s string) path { return strings.Split(s, ".") }

// index returns the array index that a path component or key names.
func index(s string) (int, bool) {
	if s == "" || len(s) > 9 || (s[0] == '0' && len(s) > 1) || s[0] < '0' || s[0] > '9' {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}

// spot tells how a path came to a value.
type spot struct {
	indexed bool // it was named by its place in an array: then it is not looked into if it is an array itself
	element int  // the index of the outermost array's element on the way, plus one; 0 if no array was looked into
}

// into is the spot below an array's n-th element.
func (s spot) into(n int) spot {
	if s.element == 0 {
		s.element = n + 1
	}
	return s
}

// visitor is called with a value that a path leads to, a Missing one where it leads nowhere. It returns true to end the
// walk.
type visitor func(v Value, at spot) bool

// walk calls visit with every value that the path leads to in doc; arrays on the way are entered, both at a numeric
// component and at each embedded document. It reports whether visit ended it.
func (p path) walk(doc []byte, visit visitor) bool { return p.walkFrom(doc, spot{}, visit) }

func (p path) walkFrom(doc []byte, at spot, visit visitor) bool {
	v := Lookup(doc, p[0])
	if len(p) == 1 {
		return visit(v, at)
	}
	return p[1:].walkValue(v, false, at, visit)
}

// walkValue follows the path from a value; nested tells that the value is an element of an array.
func (p path) walkValue(v Value, nested bool, at spot, visit visitor) bool {
	switch {
	case v.IsDocument():
		return p.walkFrom(v.Data, at, visit)
	case v.IsArray():
		return p.walkArray(v.Data, nested, at, visit)
	}
	return visit(Value{}, at)
}

// walkArray follows the path into an array. Where it leads nowhere depends on the kind of component: an index that the
// array has not, unless it is itself an element, or for a name each element that is neither a document nor an array, and an
// array of nothing but arrays.
func (p path) walkArray(array []byte, nested bool, at spot, visit visitor) bool {
	named, numeric := index(p[0])
	it := wire.Elements(array)
	n, arrays := 0, 0
	for ; it.Next(); n++ {
		v := Of(it.Element)
		switch {
		case v.IsDocument():
			if p.walkFrom(v.Data, at.into(n), visit) {
				return true
			}
		case v.IsArray():
			arrays++
		case !numeric:
			if visit(Value{}, at) {
				return true
			}
		}
		if numeric && n == named && p.enter(v, at, visit) {
			return true
		}
	}
	missing := n == arrays
	if numeric {
		missing = named >= n
	}
	return missing && !nested && visit(Value{}, at)
}

// enter follows the path from an element that its first component names by index.
func (p path) enter(v Value, at spot, visit visitor) bool {
	if len(p) == 1 {
		at.indexed = true
		return visit(v, at)
	}
	return p[1:].walkValue(v, true, at, visit)
}

// many is from how many children on a map is faster than comparing.
const many = 8

func dotted(p path) string { return strings.Join(p, ".") }

// lookup returns a field of a document, Missing of anything else.
func (v Value) lookup(name string) Value {
	if !v.IsDocument() {
		return Value{}
	}
	return Lookup(v.Data, name)
}
