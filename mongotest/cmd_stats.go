package mongotest

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// Sizes are those of the documents; storage is what files of pages would take up.

// https://www.mongodb.com/docs/manual/reference/command/collStats/

func cmdCollStats(x *call) error {
	if err := x.collectionName(); err != nil {
		return err
	}
	scale := int64(1)
	for i := range x.command.args {
		if scale, _ = x.command.args[i].Int64(); scale < 1 {
			return mongoerr.Errorf(mongoerr.BadValue, "BSON field 'scale' value must be >= 1, actual value '%d'", scale)
		}
	}
	if err := x.reading(); err != nil {
		return err
	}
	defer x.client.set.Unlock()
	c, err := x.client.member.storedLocked(x.command.full)
	if err == nil {
		x.result.out = appendCollStats(wire.AppendString(x.result.out, "ns", x.command.full), c, scale)
	}
	return err
}

// https://www.mongodb.com/docs/manual/reference/command/dbStats/

func cmdDBStats(x *call) error {
	scale, free := int64(1), false
	for i := range x.command.args {
		e := &x.command.args[i]
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
	defer x.client.set.Unlock()
	x.appendDBStats(scale, free)
	return nil
}

func (x *call) appendDBStats(scale int64, free bool) {
	var views, collections, objects, size, storage, indexes, indexSize int64
	for _, ns := range x.client.member.namespacesLocked(x.command.db) {
		c := x.client.member.Data.Collections[ns]
		if c.IsView() {
			views++
			continue
		}
		collections++
		objects += int64(c.Live)
		size += c.Size
		storage += store.Pages(c.Size)
		indexes += int64(len(c.Def.Indexes))
		indexSize += c.IndexStorage()
	}
	scaled := func(n int64) float64 { return float64(n) / float64(scale) }
	dst := wire.AppendString(x.result.out, "db", x.command.db)
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
	x.result.out = wire.AppendInt64(dst, "scaleFactor", scale)
}

// https://www.mongodb.com/docs/manual/reference/command/dataSize/

func cmdDataSize(x *call) error {
	switch x.command.first.Type {
	case bson.TypeString:
	case bson.TypeNull:
		return fields.Missing("dataSize", "dataSize")
	default:
		return fields.WrongType("dataSize", "dataSize", x.command.first.Type, "string")
	}
	ns := string(x.command.first.Text())
	if db, coll, _ := strings.Cut(ns, "."); db == "" || coll == "" {
		return mongoerr.Errorf(mongoerr.InvalidNamespace, "Namespace %sis not a valid collection name", ns)
	}
	x.result.target = ns
	estimate := false
	for i := range x.command.args {
		switch name := string(x.command.args[i].Key); name {
		case "estimate":
			estimate = x.command.args[i].True()
		default:
			return fields.Unsupported("dataSize", name)
		}
	}
	if err := x.reading(); err != nil {
		return err
	}
	defer x.client.set.Unlock()
	c, err := x.client.member.storedLocked(ns)
	if err != nil {
		return err
	}
	if c == nil {
		c = &store.Collection{}
	}
	x.result.out = wire.AppendInt64(x.result.out, "size", c.Size)
	x.result.out = wire.AppendInt64(x.result.out, "numObjects", int64(c.Live))
	x.result.out = wire.AppendInt64(x.result.out, "millis", 0)
	if c.Live > 0 {
		x.result.out = wire.AppendBool(x.result.out, "estimate", estimate)
	}
	return nil
}
