package store

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/core/indexes/index-types/index-wildcard/

// hasWildcard reports whether a key pattern has a part that stands for all paths.
func hasWildcard(pattern []byte) bool {
	it := wire.Elements(pattern)
	for it.Next() {
		if isWildcard(string(it.Key)) {
			return true
		}
	}
	return false
}

// readProjection reads the wildcardProjection.
func (r *specReader) readProjection(e *wire.Element) error {
	if !hasWildcard(query.Lookup(r.given, "key").Data) {
		return mongoerr.Errorf(mongoerr.BadValue, "The field 'wildcardProjection' is only allowed in 'wildcard' indexes")
	}
	r.projection = query.Of(*e)
	r.rest = append(r.rest, *e)
	return nil
}

// checkWildcard checks the wildcardProjection.
func (r *specReader) checkWildcard() error {
	v := r.projection
	whole := slices.ContainsFunc(r.Paths, func(p []string) bool { return len(p) == 1 && p[0] == "$**" })
	switch {
	case v.Missing() && whole && len(r.Paths) > 1:
		return mongoerr.Errorf(mongoerr.CannotCreateIndex, "Compound wildcard indexes on all fields must also specify 'wildcardProjection' option")
	case v.Missing():
		return nil
	case !v.IsDocument():
		return mongoerr.Errorf(mongoerr.TypeMismatch, "The field 'wildcardProjection' must be a non-empty object, but got %s", query.TypeName(v.Type))
	case !whole:
		return mongoerr.Errorf(mongoerr.FailedToParse, `The field 'wildcardProjection' is only allowed when 'key' is {"$**": ±1}`)
	case len(v.Data) == len(query.EmptyDocument):
		return mongoerr.Errorf(mongoerr.FailedToParse, "The 'wildcardProjection' field can't be an empty object")
	}
	if err := checkProjection(v.Data); err != nil {
		return mongoerr.Because("Failed to parse projection: wildcardProjection", err)
	}
	w := readWildcards(v.Data)
	r.wildcards = w.String()
	return w.overlap(r.Paths)
}

// checkProjection refuses what is no projection that names fields.
func checkProjection(doc []byte) error {
	if computes(doc) {
		return mongoerr.Errorf(51271, "Bad projection specification, cannot use computed fields when parsing a spec in kBanComputedFields mode")
	}
	_, err := query.ParseProjection(doc, nil, query.Hooks{})
	return err
}

// computes reports whether a projection has a value that is neither a number, a boolean nor a document of such.
func computes(doc []byte) bool {
	it := wire.Elements(doc)
	for it.Next() {
		v := query.Of(it.Element)
		inner := query.ObjectOf(v.Data)
		switch {
		case v.IsNumber() || v.Type == bson.TypeBoolean:
		case !v.IsDocument() || len(inner) > 0 && strings.HasPrefix(inner[0].Name, "$") || computes(v.Data):
			return true
		}
	}
	return false
}

// wildcards are the paths of a wildcardProjection.
type wildcards struct {
	paths   map[string]bool
	exclude bool
	id      bool // _id is in the index
}

func readWildcards(doc []byte) *wildcards {
	w := &wildcards{paths: make(map[string]bool)}
	w.read("", doc)
	return w
}

func (w *wildcards) read(prefix string, doc []byte) {
	it := wire.Elements(doc)
	for it.Next() {
		switch v, path := query.Of(it.Element), prefix+string(it.Key); {
		case v.IsDocument():
			w.read(path+".", v.Data)
		case path == "_id":
			w.id = v.True()
			w.exclude = w.exclude || len(w.paths) == 0 && !w.id
		default:
			w.paths[path] = true
			w.exclude = !v.True()
		}
	}
}

// String is the same for projections that mean the same.
func (w *wildcards) String() string {
	return fmt.Sprint(w.exclude, w.id, slices.Sorted(maps.Keys(w.paths)))
}

// overlap refuses a compound index that has a field twice.
func (w *wildcards) overlap(key [][]string) error {
	for _, parts := range key {
		field := strings.Join(parts, ".")
		if w.exclude || isWildcard(field) {
			continue
		}
		for path := range w.paths {
			if strings.HasPrefix(path+".", field+".") || strings.HasPrefix(field+".", path+".") {
				return mongoerr.Errorf(7246208, "Index Key and Wildcard Projection cannot contain overlapping fields, however '%s' index field is "+
					"overlapping with '%s' wildcardProjection path", field, path)
			}
		}
	}
	return nil
}
