package command

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// noStats returns why the stage $collStats finds nothing in a namespace without a collection, nil if it asks for nothing that is in one.
func noStats(ns string, spec query.Value) error {
	for _, option := range []string{"storageStats", "count", "queryExecStats"} {
		if v := query.Lookup(spec.Data, option); !v.Missing() && v.Type != bson.TypeNull {
			return mongoerr.Errorf(mongoerr.NamespaceNotFound,
				"Unable to retrieve %s in $collStats stage :: caused by :: Collection [%s] not found.", option, ns)
		}
	}
	return nil
}

// appendCollStats writes the sizes of a collection, nil for none, in units of scale.
func appendCollStats(dst []byte, c *store.Collection, scale int64) []byte {
	if c == nil {
		c = &store.Collection{Def: &store.Definition{}}
	}
	exists := c.ByKey != nil
	dst = query.AppendSmallest(dst, "size", c.Size/scale)
	dst = wire.AppendInt32(dst, "count", int32(c.Live))
	if c.Live > 0 {
		dst = query.AppendSmallest(dst, "avgObjSize", c.Size/int64(c.Live))
	}
	dst = wire.AppendInt32(dst, "numOrphanDocs", 0)
	storage := int64(0)
	if exists {
		storage = store.Pages(c.Size)
	}
	dst = query.AppendSmallest(dst, "storageSize", storage/scale)
	if exists {
		dst = wire.AppendInt32(dst, "freeStorageSize", 0)
		dst = wire.AppendBool(dst, "capped", c.Def.Options.Capped)
		if o := c.Def.Options; o.Capped {
			dst = query.AppendSmallest(dst, "max", o.Max)
			dst = query.AppendSmallest(dst, "maxSize", o.Size/scale)
		}
	}
	total := query.AppendSmallest(nil, "totalSize", (storage+c.IndexStorage())/scale)
	if !exists { // then it has another place
		dst = append(dst, total...)
	}
	dst = wire.AppendInt32(dst, "nindexes", int32(len(c.Def.Indexes)))
	if exists {
		building, list := wire.BeginArray(dst, "indexBuilds")
		dst = wire.EndDocument(list, building)
	}
	dst = query.AppendSmallest(dst, "totalIndexSize", c.IndexStorage()/scale)
	at, dst := wire.BeginEmbedded(dst, "indexSizes")
	for _, ix := range c.Def.Indexes {
		dst = query.AppendSmallest(dst, ix.Name, store.PageSize/scale)
	}
	dst = wire.EndDocument(dst, at)
	if exists {
		dst = append(dst, total...)
	}
	return query.AppendSmallest(dst, "scaleFactor", scale)
}
