package mongotest

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
)

// Sizes are those of the documents; storage is what files of pages would take up.

// https://www.mongodb.com/docs/manual/reference/command/collStats/

func cmdCollStats(x *exec) error {
	if err := x.collectionName(); err != nil {
		return err
	}
	scale := int64(1)
	for i := range x.args {
		if scale, _ = x.args[i].Int64(); scale < 1 {
			return mongoerr.Errorf(mongoerr.BadValue, "BSON field 'scale' value must be >= 1, actual value '%d'", scale)
		}
	}
	if err := x.reading(); err != nil {
		return err
	}
	defer x.set.mu.Unlock()
	c, err := x.member.storedLocked(x.full)
	if err == nil {
		x.out = appendCollStats(wire.AppendString(x.out, "ns", x.full), c, scale)
	}
	return err
}

// appendCollStats writes the sizes of a collection, nil for none, in units of scale.
func appendCollStats(dst []byte, c *collection, scale int64) []byte {
	if c == nil {
		c = &collection{def: &definition{}}
	}
	exists := c.byID != nil
	dst = appendSmallest(dst, "size", c.size/scale)
	dst = wire.AppendInt32(dst, "count", int32(c.live))
	if c.live > 0 {
		dst = appendSmallest(dst, "avgObjSize", c.size/int64(c.live))
	}
	dst = wire.AppendInt32(dst, "numOrphanDocs", 0)
	storage := int64(0)
	if exists {
		storage = pages(c.size)
	}
	dst = appendSmallest(dst, "storageSize", storage/scale)
	if exists {
		dst = wire.AppendInt32(dst, "freeStorageSize", 0)
		dst = wire.AppendBool(dst, "capped", c.def.options.capped)
		if o := c.def.options; o.capped {
			dst = appendSmallest(dst, "max", o.max)
			dst = appendSmallest(dst, "maxSize", o.size/scale)
		}
	}
	dst = wire.AppendInt32(dst, "nindexes", int32(len(c.def.indexes)))
	if exists {
		building, list := wire.BeginArray(dst, "indexBuilds")
		dst = wire.EndDocument(list, building)
	}
	dst = appendSmallest(dst, "totalIndexSize", c.indexStorage()/scale)
	at, dst := wire.BeginEmbedded(dst, "indexSizes")
	for _, ix := range c.def.indexes {
		dst = appendSmallest(dst, ix.name, page/scale)
	}
	dst = wire.EndDocument(dst, at)
	dst = appendSmallest(dst, "totalSize", (storage+c.indexStorage())/scale)
	return appendSmallest(dst, "scaleFactor", scale)
}

// https://www.mongodb.com/docs/manual/reference/command/dbStats/

func cmdDBStats(x *exec) error {
	scale, free := int64(1), false
	for i := range x.args {
		e := &x.args[i]
		switch string(e.Key) {
		case "scale":
			if scale, _ = e.Int64(); scale < 1 || scale > 1<<50 {
				return mongoerr.Errorf(mongoerr.BadValue, "Scale factor must be greater than zero and less than or equal to 2^50")
			}
		case "freeStorage":
			free = e.True()
		}
	}
	if err := x.reading(); err != nil {
		return err
	}
	defer x.set.mu.Unlock()
	x.appendDBStats(scale, free)
	return nil
}

func (x *exec) appendDBStats(scale int64, free bool) {
	var views, collections, objects, size, storage, indexes, indexSize int64
	for _, ns := range x.member.namespacesLocked(x.db) {
		c := x.member.collections[ns]
		if c.isView() {
			views++
			continue
		}
		collections++
		objects += int64(c.live)
		size += c.size
		storage += pages(c.size)
		indexes += int64(len(c.def.indexes))
		indexSize += c.indexStorage()
	}
	scaled := func(n int64) float64 { return float64(n) / float64(scale) }
	dst := wire.AppendString(x.out, "db", x.db)
	dst = wire.AppendInt64(dst, "collections", collections)
	dst = wire.AppendInt64(dst, "views", views)
	dst = wire.AppendInt64(dst, "objects", objects)
	dst = wire.AppendDouble(dst, "avgObjSize", float64(size)/float64(max(1, objects)))
	dst = wire.AppendDouble(dst, "dataSize", scaled(size))
	unused := func(name string) { // nothing is
		if free {
			dst = wire.AppendDouble(dst, name, 0)
		}
	}
	dst = wire.AppendDouble(dst, "storageSize", scaled(storage))
	unused("freeStorageSize")
	dst = wire.AppendInt64(dst, "indexes", indexes)
	dst = wire.AppendDouble(dst, "indexSize", scaled(indexSize))
	unused("indexFreeStorageSize")
	dst = wire.AppendDouble(dst, "totalSize", scaled(storage+indexSize))
	unused("totalFreeStorageSize")
	x.out = wire.AppendInt64(dst, "scaleFactor", scale)
}

// https://www.mongodb.com/docs/manual/reference/command/dataSize/

func cmdDataSize(x *exec) error {
	switch x.first.Type {
	case bson.TypeString:
	case bson.TypeNull:
		return missingField("dataSize", "dataSize")
	default:
		return wrongType("dataSize", "dataSize", x.first.Type, "string")
	}
	ns := string(x.first.Text())
	if db, coll, _ := strings.Cut(ns, "."); db == "" || coll == "" {
		return mongoerr.Errorf(mongoerr.InvalidNamespace, "Namespace %sis not a valid collection name", ns)
	}
	x.target = ns
	estimate := false
	for i := range x.args {
		switch name := string(x.args[i].Key); name {
		case "estimate":
			estimate = x.args[i].True()
		default:
			return unsupportedField("dataSize", name)
		}
	}
	if err := x.reading(); err != nil {
		return err
	}
	defer x.set.mu.Unlock()
	c, err := x.member.storedLocked(ns)
	if err != nil {
		return err
	}
	if c == nil {
		c = &collection{}
	}
	x.out = wire.AppendInt64(x.out, "size", c.size)
	x.out = wire.AppendInt64(x.out, "numObjects", int64(c.live))
	x.out = wire.AppendInt64(x.out, "millis", 0)
	if c.live > 0 {
		x.out = wire.AppendBool(x.out, "estimate", estimate)
	}
	return nil
}
