package mongotest

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// https://www.mongodb.com/docs/manual/reference/command/killCursors/

func cmdKillCursors(x *exec) error {
	if err := x.collectionName(); err != nil {
		return err
	}
	var killed, missing []int64
	for i := range x.args {
		it := wire.Elements(x.args[i].Value)
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
