package store

import (
	"slices"
	"strings"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/core/index-sparse/

// holds reports whether the index has an entry for a document.
func (ix *Index) holds(doc []byte) bool {
	if ix.partial != nil && !ix.partial.Match(doc) {
		return false
	}
	switch ix.plugin {
	case "":
		if !ix.sparse {
			return true
		}
		keys, err := ix.Keys(doc)
		return err != nil || len(keys) > 0
	case "2d":
		return ix.holdsPlace(doc)
	case "2dsphere": // one of version 1 has each document
		return query.Lookup(ix.Raw, "2dsphereIndexVersion").Clamped32() == 1 || ix.holdsPlace(doc)
	case "hashed":
		return !ix.sparse || slices.ContainsFunc(ix.Paths, func(path []string) bool { return hasAlong(doc, path, always) })
	case "text":
		terms, err := ix.text.Terms(doc, (*query.Work)(nil))
		return err != nil || len(terms) > 0
	}
	return true
}

// holdsPlace reports whether a document has something at one of the fields of the index that are places.
func (ix *Index) holdsPlace(doc []byte) bool {
	for it := wire.Elements(ix.Pattern); it.Next(); {
		if v := query.Of(it.Element); v.IsString() && hasAlong(doc, strings.Split(string(it.Key), "."), hasParts) {
			return true
		}
	}
	return false
}

// hasAlong reports whether a document has a value of some kind at a path.
func hasAlong(doc []byte, path []string, kind func(query.Value) bool) bool {
	found := false
	eachAlong(query.Document(doc), path, func(v query.Value) { found = found || kind(v) })
	return found
}

func always(query.Value) bool { return true }

// hasParts reports whether a value is a document or an array with something in it.
func hasParts(v query.Value) bool {
	return (v.IsDocument() || v.IsArray()) && len(v.Data) > len(query.EmptyDocument)
}
