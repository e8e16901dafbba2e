package subjson

import (
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// place is where a path led to.
type place struct {
	entry
	container int     // where the object or array begins that the last component looked into, -1 for the whole document
	siblings  []entry // all that is in it
	last      int     // the index of its last byte
	missing   Path    // the components that were not found, if the status is StatusPathNotFound
}

// find follows a path through a valid document. If it ends early, the place is that of the container where it ended.
func find(doc []byte, path Path) (place, memd.Status) {
	start := space(doc, 0)
	p := place{entry: entry{from: start, start: start, end: valueEnd(doc, start)}, container: -1}
	for i, c := range path {
		if want := map[bool]byte{false: '{', true: '['}[c.IsIndex]; doc[p.start] != want {
			return p, memd.StatusPathMismatch
		}
		p.container = p.start
		p.siblings, p.last = entries(doc, p.start)
		n := c.in(p.siblings)
		if n < 0 {
			p.missing = path[i:]
			return p, memd.StatusPathNotFound
		}
		p.entry = p.siblings[n]
	}
	return p, memd.StatusSuccess
}

// in returns which entry the component names, -1 if none.
func (c Component) in(list []entry) int {
	if !c.IsIndex {
		for i := len(list) - 1; i >= 0; i-- {
			if list[i].name == c.Name {
				return i
			}
		}
		return -1
	}
	if c.Index == -1 {
		return len(list) - 1
	}
	if c.Index < len(list) {
		return c.Index
	}
	return -1
}

// Get returns the value at a path of a document that Check has accepted.
func Get(doc []byte, path Path) ([]byte, memd.Status) {
	p, status := find(doc, path)
	if status != memd.StatusSuccess {
		return nil, status
	}
	return doc[p.start:p.end], memd.StatusSuccess
}

// Count returns how many members or elements the object or array at a path has.
func Count(doc []byte, path Path) (int, memd.Status) {
	p, status := find(doc, path)
	if status != memd.StatusSuccess {
		return 0, status
	}
	if doc[p.start] != '{' && doc[p.start] != '[' {
		return 0, memd.StatusPathMismatch
	}
	list, _ := entries(doc, p.start)
	return len(list), memd.StatusSuccess
}

// Members returns the members of an object: their names and values.
func Members(doc []byte) (names []string, values [][]byte) {
	list, _ := entries(doc, space(doc, 0))
	for _, e := range list {
		names, values = append(names, e.name), append(values, doc[e.start:e.end])
	}
	return names, values
}
