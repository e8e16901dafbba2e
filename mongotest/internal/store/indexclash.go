package store

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/collation"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// Admits reports whether the collection has an index already; the error says why it cannot have it beside its others.
func (d *Definition) Admits(ix *Index) (bool, error) {
	if ix.OfID {
		if own := d.Options.Collation; !collation.Same(ix.Collation, own) {
			return false, mongoerr.Errorf(mongoerr.BadValue, "The _id index must have the same collation as the collection. Index collation: %s, "+
				"collection collation: %s", ix.Collation.Text(), own.Text())
		}
		return true, nil
	}
	if own := d.Clustering(); own != nil && own.Name == ix.Name {
		asked := query.DocumentText(versionLast(ix.Raw))
		return false, mongoerr.Errorf(6100906,
			"Error in specification %s :: caused by :: Cannot create an index where the name matches the clusteredIndex "+
				"but the key does not - indexSpec: %s, clusteredIndex: %s", asked, asked, query.DocumentText(d.Options.Clustered))
	}
	if old := d.Named(ix.Name); old != nil {
		switch {
		case !sameIndex(old, ix):
			return false, mongoerr.Errorf(mongoerr.IndexKeySpecsConflict, sameNameText, ix, old)
		case !sameOptions(old, ix):
			return false, mongoerr.Errorf(mongoerr.IndexOptionsConflict, "An equivalent index already exists with the same name but different "+
				"options. Requested index: %s, existing index: %s", ix, old)
		}
		return true, nil
	}
	for _, old := range d.Indexes {
		switch {
		case sameIndex(old, ix) && sameOptions(old, ix):
			return false, mongoerr.Errorf(mongoerr.IndexOptionsConflict, "Index already exists with a different name: %s", old.Name)
		case sameIndex(old, ix):
			return false, mongoerr.Errorf(mongoerr.IndexOptionsConflict, "An equivalent index already exists with a different name and options. "+
				"Requested index: %s, existing index: %s", ix, old)
		case old.plugin == "text" && ix.plugin == "text":
			return false, mongoerr.Errorf(mongoerr.CannotCreateIndex,
				"only one text index per collection allowed, found existing text index \"%s\"", old.Name)
		}
	}
	if len(d.Indexes) == maxIndexes {
		return false, mongoerr.Errorf(mongoerr.CannotCreateIndex,
			"add index fails, too many indexes for collection; key: %s", query.DocumentText(ix.Pattern))
	}
	return false, nil
}

const sameNameText = "An existing index has the same name as the requested index. When index names are not specified, they are " +
	"auto generated and can cause conflicts. Please refer to our documentation. Requested index: %s, existing index: %s"

// versionLast returns a specification as a client sends it, with the version that it got behind the rest.
func versionLast(spec []byte) []byte {
	at, dst := wire.BeginDocument(nil)
	it := wire.Elements(spec)
	for it.Next() {
		if string(it.Key) != "v" {
			dst = wire.AppendElement(dst, it.Element)
		}
	}
	return wire.EndDocument(wire.AppendInt32(dst, "v", 2), at)
}

// sameIndex reports whether two indexes would hold the same entries, so that only one of them may be.
func sameIndex(a, b *Index) bool {
	return query.EqualDocuments(a.Pattern, b.Pattern) && a.Unique == b.Unique && a.sparse == b.sparse &&
		query.Equal(query.Lookup(a.Raw, "partialFilterExpression"), query.Lookup(b.Raw, "partialFilterExpression")) &&
		query.Equal(query.Lookup(a.Raw, "collation"), query.Lookup(b.Raw, "collation")) && a.wildcards == b.wildcards
}

// sameOptions reports whether what sameIndex leaves out is the same too.
func sameOptions(a, b *Index) bool {
	return a.Hidden == b.Hidden && hasOptionsOf(a, b) && hasOptionsOf(b, a)
}

// hasOptionsOf reports whether b has every option that a has.
func hasOptionsOf(a, b *Index) bool {
	it := wire.Elements(a.Raw)
	for it.Next() {
		switch string(it.Key) {
		case "v", "key", "name", "unique", "sparse", "hidden", "background", "partialFilterExpression", "wildcardProjection", "prepareUnique", "textIndexVersion",
			"2dsphereIndexVersion":
		default:
			if !query.Equal(query.Of(it.Element), query.Lookup(b.Raw, string(it.Key))) {
				return false
			}
		}
	}
	return true
}

// maxIndexes is how many indexes a collection may have.
const maxIndexes = 64
