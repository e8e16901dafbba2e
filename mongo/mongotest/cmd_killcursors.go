package mongotest

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/wire"
)

// https://www.mongodb.com/docs/manual/reference/command/killCursors/

func cmdKillCursors(x *exec) error {
	var killed, missing []int64
	for i := range x.args {
		e := &x.args[i]
		if string(e.Key) != "cursors" {
			return unknownField("killCursors", string(e.Key))
		}
		if e.Type != bson.TypeArray {
			return wrongType("killCursors", "cursors", e.Type, "array")
		}
		it := wire.Elements(e.Value)
		for it.Next() {
			id, _ := it.Int64()
			if x.dropCursor(id) {
				killed = append(killed, id)
			} else {
				missing = append(missing, id)
			}
		}
	}
	x.out = appendInt64s(x.out, "cursorsKilled", killed)
	x.out = appendInt64s(x.out, "cursorsNotFound", missing)
	x.out = appendInt64s(x.out, "cursorsAlive", nil)
	x.out = appendInt64s(x.out, "cursorsUnknown", nil)
	return nil
}

func appendInt64s(dst []byte, key string, list []int64) []byte {
	at, dst := wire.BeginArray(dst, key)
	for i, n := range list {
		dst = wire.AppendInt64(dst, wire.ArrayKey(i), n)
	}
	return wire.EndDocument(dst, at)
}
