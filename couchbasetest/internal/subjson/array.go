package subjson

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// checkValues is checkValue for values that are separated by commas.
func checkValues(values []byte) memd.Status {
	if len(bytes.TrimSpace(values)) == 0 {
		return memd.StatusCannotInsert
	}
	return checkValue(slices.Concat([]byte{'['}, values, []byte{']'}))
}

// array finds the array at a path. If the path is missing and may be created, it returns the document with a new array that
// has the values, and no place.
func array(doc []byte, path Path, values []byte, parents bool) (p *place, created []byte, status memd.Status) {
	found, status := find(doc, path)
	switch {
	case status == memd.StatusPathNotFound && parents:
		created, status = found.create(doc, slices.Concat([]byte{'['}, values, []byte{']'}), true)
		return nil, created, status
	case status != memd.StatusSuccess:
		return nil, nil, status
	case doc[found.start] != '[':
		return nil, nil, memd.StatusPathMismatch
	}
	found.container = found.start
	found.siblings, found.last = entries(doc, found.start)
	return &found, nil, memd.StatusSuccess
}

// ArrayAppend adds values, separated by commas, to the end of an array.
func ArrayAppend(doc []byte, path Path, values []byte, parents bool) ([]byte, memd.Status) {
	if status := checkValues(values); status != memd.StatusSuccess {
		return nil, status
	}
	p, created, status := array(doc, path, values, parents)
	if p == nil {
		return created, status
	}
	return p.add(doc, values), memd.StatusSuccess
}

// ArrayPrepend adds values, separated by commas, to the beginning of an array.
func ArrayPrepend(doc []byte, path Path, values []byte, parents bool) ([]byte, memd.Status) {
	if status := checkValues(values); status != memd.StatusSuccess {
		return nil, status
	}
	p, created, status := array(doc, path, values, parents)
	if p == nil {
		return created, status
	}
	return p.insert(doc, 0, values), memd.StatusSuccess
}

// insert returns the document with values before the entry of an index, which may be one after the last.
func (p *place) insert(doc []byte, index int, values []byte) []byte {
	if index == len(p.siblings) {
		return p.add(doc, values)
	}
	at := p.siblings[index].from
	return splice(doc, at, at, values, []byte{','})
}

// ArrayInsert adds values, separated by commas, to an array, so that the first of them has the index with which the path ends.
func ArrayInsert(doc []byte, path Path, values []byte) ([]byte, memd.Status) {
	if len(path) == 0 || !path[len(path)-1].IsIndex || path[len(path)-1].Index < 0 {
		return nil, memd.StatusPathInvalid
	}
	if status := checkValues(values); status != memd.StatusSuccess {
		return nil, status
	}
	index := path[len(path)-1].Index
	p, _, status := array(doc, path[:len(path)-1], nil, false)
	switch {
	case p == nil:
		return nil, status
	case index > len(p.siblings):
		return nil, memd.StatusPathNotFound
	}
	return p.insert(doc, index, values), memd.StatusSuccess
}

// ArrayAddUnique adds a value to the end of an array that has only numbers, strings and words, and not this one.
func ArrayAddUnique(doc []byte, path Path, value []byte, parents bool) ([]byte, memd.Status) {
	if value = bytes.TrimSpace(value); !json.Valid(value) || isContainer(value) {
		return nil, memd.StatusCannotInsert
	}
	p, created, status := array(doc, path, value, parents)
	if p == nil {
		return created, status
	}
	for _, e := range p.siblings {
		switch there := doc[e.start:e.end]; {
		case isContainer(there):
			return nil, memd.StatusPathMismatch
		case bytes.Equal(there, value):
			return nil, memd.StatusPathExists
		}
	}
	return p.add(doc, value), memd.StatusSuccess
}

func isContainer(value []byte) bool { return value[0] == '{' || value[0] == '[' }
