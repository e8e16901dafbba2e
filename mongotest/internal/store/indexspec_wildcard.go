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

// isWildcard reports whether a name in a key pattern stands for all paths that begin so.
func isWildcard(name string) bool { return name == "$**" || strings.HasSuffix(name, ".$**") }

// notWild returns why the index cannot be a wildcard index, nil if it can.
func (r *specReader) notWild() error {
	text := "Index type 'wildcard' does not support the '%s' option"
	version, _ := r.v.Integer()
	switch {
	case r.Unique:
		return mongoerr.Errorf(mongoerr.CannotCreateIndex, text, "unique")
	case r.sparse:
		return mongoerr.Errorf(mongoerr.CannotCreateIndex, text, "sparse")
	case r.gives("expireAfterSeconds") && r.Flaw == nil: // else the option itself is wrong
		return mongoerr.Errorf(mongoerr.CannotCreateIndex, "cannot make a TTL index :: caused by :: "+text, "expireAfterSeconds")
	case version < 2:
		return mongoerr.Errorf(mongoerr.CannotCreateIndex, "Index type 'wildcard' is not allowed with index version v: %s", r.v)
	}
	return nil
}

// readProjection reads the wildcardProjection.
func (r *specReader) readProjection(e *wire.Element) error {
	if pluginOf(query.Lookup(r.given, "key").Data) != wildcard {
		return mongoerr.Errorf(mongoerr.BadValue, "The field 'wildcardProjection' is only allowed in 'wildcard' indexes")
	}
	r.projection = query.Of(*e)
	r.rest = append(r.rest, *e)
	return nil
}

// checkWildcard checks a wildcard index's key, and its wildcardProjection.
func (r *specReader) checkWildcard() error {
	if r.plugin != wildcard {
		return nil
	}
	v := r.projection
	whole := slices.ContainsFunc(r.Paths, func(p []string) bool { return len(p) == 1 && p[0] == "$**" })
	switch {
	case v.Missing() && whole && len(r.Paths) > 1:
		return mongoerr.Errorf(mongoerr.CannotCreateIndex, "Compound wildcard indexes on all fields must also specify 'wildcardProjection' option")
	case v.Missing():
		return r.overlapping()
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

// overlapping refuses a compound index that has a field by itself too which is below its wildcard.
func (r *specReader) overlapping() error {
	below := ""
	for _, p := range r.Paths {
		if name := strings.Join(p, "."); isWildcard(name) {
			below = strings.TrimSuffix(name, "$**")
		}
	}
	for _, p := range r.Paths {
		if name := strings.Join(p, "."); !isWildcard(name) && strings.HasPrefix(name+".", below) {
			return mongoerr.Errorf(7246204, "A wildcard index field should not overlap with and index key fields if wildcard projection is empty, "+
				"however '%s' is overlapping with the wildcard index field.", name)
		}
	}
	return nil
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
	noID    bool // the projection says that it is not
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
			w.id, w.noID = v.True(), !v.True()
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
	var names []string
	for _, parts := range key {
		if name := strings.Join(parts, "."); !isWildcard(name) {
			names = append(names, name)
		}
	}
	if w.exclude {
		return w.excludes(names)
	}
	return w.includes(names)
}

// includes refuses a field that a projection includes, or a part of it.
func (w *wildcards) includes(names []string) error {
	paths := w.sorted(w.id)
	for _, name := range names {
		for _, path := range paths {
			if strings.HasPrefix(path+".", name+".") || strings.HasPrefix(name+".", path+".") {
				return mongoerr.Errorf(7246208, "Index Key and Wildcard Projection cannot contain overlapping fields, however '%s' index field is "+
					"overlapping with '%s' wildcardProjection path", name, path)
			}
		}
	}
	return nil
}

// excludes refuses a field that a projection leaves in the wildcard.
func (w *wildcards) excludes(names []string) error {
	paths := w.sorted(w.noID)
	for _, name := range slices.Sorted(slices.Values(names)) {
		if slices.ContainsFunc(paths, func(path string) bool { return strings.HasPrefix(name+".", path+".") }) {
			continue
		}
		code := mongoerr.Code(7246210)
		if len(paths) > 0 && paths[len(paths)-1] > name { // two places of the real server's code refuse the same
			code = 7246209
		}
		return mongoerr.Errorf(code, "wildcardProjection paths must exclude all regular index fields, however '%s'is not excluded", name)
	}
	return nil
}

// sorted returns the paths, with _id if it is one of them.
func (w *wildcards) sorted(id bool) []string {
	paths := slices.Collect(maps.Keys(w.paths))
	if id {
		paths = append(paths, "_id")
	}
	slices.Sort(paths)
	return paths
}
