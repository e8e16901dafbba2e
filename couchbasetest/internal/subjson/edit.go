package subjson

import (
	"encoding/json"
	"slices"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// splice returns the document with other bytes in place of those from start to end.
func splice(doc []byte, start, end int, with ...[]byte) []byte {
	return slices.Concat(append(append([][]byte{doc[:start]}, with...), doc[end:])...)
}

// add returns the document with a new last entry in the object or array that p is about.
func (p *place) add(doc []byte, text ...[]byte) []byte {
	if len(p.siblings) > 0 {
		text = append([][]byte{{','}}, text...)
		at := p.siblings[len(p.siblings)-1].end
		return splice(doc, at, at, text...)
	}
	return splice(doc, p.last, p.last, text...)
}

// create returns the document with a value at a path that was not found. If parents is false, only the last component may
// be missing.
func (p *place) create(doc, value []byte, parents bool) ([]byte, memd.Status) {
	if len(p.missing) > 1 && !parents {
		return nil, memd.StatusPathNotFound
	}
	for _, c := range p.missing {
		if c.IsIndex {
			return nil, memd.StatusPathNotFound
		}
	}
	text := value
	for _, c := range slices.Backward(p.missing[1:]) {
		text = slices.Concat([]byte{'{'}, quote(c.Name), []byte{':'}, text, []byte{'}'})
	}
	return p.add(doc, quote(p.missing[0].Name), []byte{':'}, text), memd.StatusSuccess
}

// endsInName reports whether a path leads to a member of an object.
func (path Path) endsInName() bool { return len(path) > 0 && !path[len(path)-1].IsIndex }

// checkValue returns the status that refuses a value, or success.
func checkValue(value []byte) memd.Status {
	if !json.Valid(value) {
		return memd.StatusCannotInsert
	}
	if depth(value) > maxDepth {
		return memd.StatusValueTooDeep
	}
	return memd.StatusSuccess
}

// Insert gives an object a member that it must not have.
func Insert(doc []byte, path Path, value []byte, parents bool) ([]byte, memd.Status) {
	return store(doc, path, value, parents, false)
}

// Upsert gives an object a member, or another value for one that it has.
func Upsert(doc []byte, path Path, value []byte, parents bool) ([]byte, memd.Status) {
	return store(doc, path, value, parents, true)
}

func store(doc []byte, path Path, value []byte, parents, replace bool) ([]byte, memd.Status) {
	if !path.endsInName() {
		return nil, memd.StatusPathInvalid
	}
	if status := checkValue(value); status != memd.StatusSuccess {
		return nil, status
	}
	p, status := find(doc, path)
	switch {
	case status == memd.StatusPathNotFound:
		return p.create(doc, value, parents)
	case status != memd.StatusSuccess:
		return nil, status
	case !replace:
		return nil, memd.StatusPathExists
	}
	return splice(doc, p.start, p.end, value), memd.StatusSuccess
}

// Replace gives what is at a path another value.
func Replace(doc []byte, path Path, value []byte) ([]byte, memd.Status) {
	if status := checkValue(value); status != memd.StatusSuccess {
		return nil, status
	}
	p, status := find(doc, path)
	if status != memd.StatusSuccess {
		return nil, status
	}
	return splice(doc, p.start, p.end, value), memd.StatusSuccess
}

// Remove takes out what is at a path, which must not be empty.
func Remove(doc []byte, path Path) ([]byte, memd.Status) {
	p, status := find(doc, path)
	if status != memd.StatusSuccess {
		return nil, status
	}
	i := slices.Index(p.siblings, p.entry)
	switch {
	case i < 0:
		return nil, memd.StatusPathInvalid
	case i > 0:
		return splice(doc, p.siblings[i-1].end, p.end), memd.StatusSuccess
	case len(p.siblings) > 1:
		return splice(doc, p.from, p.siblings[1].from), memd.StatusSuccess
	}
	return splice(doc, p.from, p.end), memd.StatusSuccess
}
