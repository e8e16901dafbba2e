package query

import (
	"strconv"
	"strings"

	"github.com/holdfast-db/holdfast/internal/wire"
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

// walk calls visit with every value that the path leads to in doc, a Missing one where it leads nowhere; arrays on the way
// are entered, both at a numeric component and at each embedded document. It stops when visit returns true, and tells so.
func (p path) walk(doc []byte, visit func(Value) bool) bool {
	v := Lookup(doc, p[0])
	if len(p) == 1 {
		return visit(v)
	}
	return p[1:].walkValue(v, visit)
}

func (p path) walkValue(v Value, visit func(Value) bool) bool {
	switch {
	case v.IsDocument():
		return p.walk(v.Data, visit)
	case v.IsArray():
		return p.walkArray(v.Data, visit)
	}
	return visit(Value{})
}

func (p path) walkArray(array []byte, visit func(Value) bool) bool {
	at, numeric := index(p[0])
	it := wire.Elements(array)
	for i := 0; it.Next(); i++ {
		v := Of(it.Element)
		if v.IsDocument() && p.walk(v.Data, visit) {
			return true
		}
		if !numeric || i != at {
			continue
		}
		if len(p) == 1 {
			if visit(v) {
				return true
			}
		} else if p[1:].walkValue(v, visit) {
			return true
		}
	}
	return false
}
