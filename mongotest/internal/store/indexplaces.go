package store

import (
	"slices"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// ofPlaces reports whether the index is one of places.
func (ix *Index) ofPlaces() bool { return ix.plugin == "2d" || ix.plugin == "2dsphere" }

// isPlace reports whether a field of the index is one of places.
func (ix *Index) isPlace(field int) bool {
	it := wire.Elements(ix.Pattern)
	for range field + 1 {
		it.Next()
	}
	v := query.Of(it.Element)
	return v.IsString()
}

// PlaceKeys returns how many keys a document has in an index of places.
func (ix *Index) PlaceKeys(doc []byte) int {
	switch {
	case ix.partial != nil && !ix.partial.Match(doc):
		return 0
	case ix.plugin == "2d":
		return len(query.PlanePoints(doc, ix.Paths[0]))
	}
	keys, err := ix.sphereKeys(doc)
	if err != nil {
		return 0
	}
	return len(keys)
}

// markPlaces is mark for a field of places: its own value is no array there, but counts as one if it has several keys.
func (s *indexState) markPlaces(field int, doc []byte) {
	path, marks := s.Paths[field], s.marks[field]
	last := len(path) - 1
	several := !marks[last] && s.severalKeys(path, doc)
	if !several && !hasNewArray(marks[:last], path[:last], doc) || s.partial != nil && !s.partial.Match(doc) {
		return
	}
	markArrays(marks[:last], path[:last], doc)
	marks[last] = marks[last] || several
	s.arrays = slices.Clone(s.arrays)
	s.arrays[field] = beginnings(marks, path)
}

func (s *indexState) severalKeys(path []string, doc []byte) bool {
	if s.plugin == "2d" {
		return len(query.PlanePoints(doc, path)) > 1
	}
	return len(query.SphereCells(doc, path, s.level("coarsestIndexedLevel", coarsestLevel), s.level("finestIndexedLevel", fineLevel))) > 1
}
