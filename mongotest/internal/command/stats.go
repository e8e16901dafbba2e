package command

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// Sizes are those of the documents; storage is what files of pages would take up.

// https://www.mongodb.com/docs/manual/reference/command/collStats/

func cmdCollStats(x *call.Call) error {
	if err := x.CollectionName(); err != nil {
		return err
	}
	scale := int64(1)
	for i := range x.Command.Args {
		if scale, _ = x.Command.Args[i].Int64(); scale < 1 {
			return mongoerr.Errorf(mongoerr.BadValue, "BSON field 'scale' value must be >= 1, actual value '%d'", scale)
		}
	}
	return x.Reading(func(x call.Locked) error {
		c, err := x.Stored(x.Command.Full)
		if err == nil {
			x.Result.Out = appendCollStats(wire.AppendString(x.Result.Out, "ns", x.Command.Full), c, scale)
		}
		return err
	})
}

// https://www.mongodb.com/docs/manual/reference/command/dbStats/

func cmdDBStats(x *call.Call) error {
	scale, free := int64(1), false
	for i := range x.Command.Args {
		e := &x.Command.Args[i]
		switch string(e.Key) {
		case "scale":
			if scale, _ = e.Int64(); scale < 1 || scale > 1<<50 {
				return mongoerr.Errorf(mongoerr.BadValue, "Scale factor must be greater than zero and less than or equal to 2^50")
			}
		case "freeStorage":
			free = e.True()
		}
	}
	return x.Reading(func(x call.Locked) error {
		appendDBStats(x, scale, free)
		return nil
	})
}

func appendDBStats(x call.Locked, scale int64, free bool) {
	var views, collections, objects, size, storage, indexes, indexSize int64
	for _, ns := range x.Namespaces(x.Command.DB) {
		c := x.Client.Member.Data.Collections[ns]
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
	dst := wire.AppendString(x.Result.Out, "db", x.Command.DB)
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
	x.Result.Out = wire.AppendInt64(dst, "scaleFactor", scale)
}

// https://www.mongodb.com/docs/manual/reference/command/dataSize/

func cmdDataSize(x *call.Call) error {
	switch x.Command.First.Type {
	case bson.TypeString:
	case bson.TypeNull:
		return fields.Missing("dataSize", "dataSize")
	default:
		return fields.WrongType("dataSize", "dataSize", x.Command.First.Type, "string")
	}
	ns := string(x.Command.First.Text())
	if db, coll, _ := strings.Cut(ns, "."); db == "" || coll == "" {
		return mongoerr.Errorf(mongoerr.InvalidNamespace, "Namespace %sis not a valid collection name", ns)
	}
	x.Result.Target = ns
	estimate := false
	for i := range x.Command.Args {
		switch name := string(x.Command.Args[i].Key); name {
		case "estimate":
			estimate = x.Command.Args[i].True()
		default:
			return fields.Unsupported("dataSize", name)
		}
	}
	return x.Reading(func(x call.Locked) error {
		c, err := x.Stored(ns)
		if err == nil {
			appendDataSize(x, c, estimate)
		}
		return err
	})
}

func appendDataSize(x call.Locked, c *store.Collection, estimate bool) {
	if c == nil {
		c = &store.Collection{}
	}
	x.Result.Out = wire.AppendInt64(x.Result.Out, "size", c.Size)
	x.Result.Out = wire.AppendInt64(x.Result.Out, "numObjects", int64(c.Live))
	x.Result.Out = wire.AppendInt64(x.Result.Out, "millis", 0)
	if c.Live > 0 {
		x.Result.Out = wire.AppendBool(x.Result.Out, "estimate", estimate)
	}
}
