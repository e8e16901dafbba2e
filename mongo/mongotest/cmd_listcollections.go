package mongotest

import (
	"crypto/sha256"

	"github.com/holdfast-db/holdfast/internal/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/command/listCollections/

func cmdListCollections(x *exec) error {
	filter, nameOnly, size := emptyDocument, false, int64(1<<31)
	for i := range x.args {
		e := &x.args[i]
		switch string(e.Key) {
		case "filter":
			if filter = e.Document(); filter == nil {
				return wrongType("listCollections", "filter", e.Type, "object")
			}
			if err := valid(filter); err != nil {
				return err
			}
		case "nameOnly":
			nameOnly = e.True()
		case "cursor":
			if n, ok := query.Lookup(e.Value, "batchSize").Integer(); ok {
				size = n
			}
		case "authorizedCollections":
		default:
			return unknownField("listCollections", string(e.Key))
		}
	}
	f, err := query.ParseFilter(filter)
	if err != nil {
		return err
	}
	return x.listCollections(f, nameOnly, size)
}

func (x *exec) listCollections(f *query.Filter, nameOnly bool, size int64) error {
	if err := x.reading(); err != nil {
		return err
	}
	names := x.member.namespacesLocked(x.db)
	x.set.mu.Unlock()
	var docs [][]byte
	for _, ns := range names {
		if f.Match(collectionInfo(ns, ns[len(x.db)+1:], false)) {
			docs = append(docs, collectionInfo(ns, ns[len(x.db)+1:], nameOnly))
		}
	}
	x.full, x.coll = x.db+".$cmd.listCollections", ""
	x.replyCursor(docs, nil, size, false)
	x.full = ""
	return nil
}

func collectionInfo(ns, name string, nameOnly bool) []byte {
	at, dst := wire.BeginDocument(nil)
	dst = wire.AppendString(dst, "name", name)
	dst = wire.AppendString(dst, "type", "collection")
	if nameOnly {
		return wire.EndDocument(dst, at)
	}
	dst = wire.AppendDocument(dst, "options", emptyDocument)
	info, dst := wire.BeginEmbedded(dst, "info")
	dst = wire.AppendBool(dst, "readOnly", false)
	id := sha256.Sum256([]byte(ns))
	dst = wire.AppendBinary(dst, "uuid", 4, id[:16])
	dst = wire.EndDocument(dst, info)
	index, dst := wire.BeginEmbedded(dst, "idIndex")
	dst = wire.AppendInt32(dst, "v", 2)
	key, dst := wire.BeginEmbedded(dst, "key")
	dst = wire.EndDocument(wire.AppendInt32(dst, "_id", 1), key)
	dst = wire.AppendString(dst, "name", "_id_")
	dst = wire.EndDocument(dst, index)
	return wire.EndDocument(dst, at)
}
