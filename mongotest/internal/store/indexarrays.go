package store

import (
	"strings"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/core/indexes/index-types/index-hashed/
// https://www.mongodb.com/docs/manual/core/indexes/index-types/index-wildcard/index-wildcard-compound/

// checkArrays returns why a document with arrays cannot be in an index of a kind that takes none: a hashed index at any of
// its fields, a compound wildcard index at those beside the wildcard.
func (ix *Index) checkArrays(doc []byte) error {
	if ix.plugin != "hashed" && ix.plugin != wildcard {
		return nil
	}
	for _, path := range ix.Paths {
		n := arrayAlong(doc, path)
		switch {
		case n == 0:
		case ix.plugin == "hashed":
			return mongoerr.Errorf(16766, "Error: hashed indexes do not currently support array values. Found array at path: %s",
				strings.Join(path[:n], "."))
		case path[len(path)-1] != "$**":
			return mongoerr.Errorf(7246301, "field %s cannot be indexed as an array (multikey)", strings.Join(path[n-1:], "."))
		}
	}
	return nil
}

// checkBesideTexts returns why a document with arrays cannot be in a text index: none may be at its fields that are not texts.
func (ix *Index) checkBesideTexts(doc []byte) error {
	for _, name := range fieldNames(ix.Pattern) {
		if name != "_fts" && name != "_ftsx" && arrayAlong(doc, strings.Split(name, ".")) > 0 {
			return mongoerr.Errorf(mongoerr.CannotBuildIndexKeys, "Field '%s' of text index contains an array in document", name)
		}
	}
	return nil
}

// arrayAlong returns how many names of a path lead to its first array, 0 if there is none.
func arrayAlong(doc []byte, path []string) int {
	v := query.Document(doc)
	for i, name := range path {
		if !v.IsDocument() {
			return 0
		}
		if v = query.Lookup(v.Data, name); v.IsArray() {
			return i + 1
		}
	}
	return 0
}
