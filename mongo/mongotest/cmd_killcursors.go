package mongotest

import (
	"bytes"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// https://www.mongodb.com/docs/manual/reference/command/killCursors/

func cmdKillCursors(x *exec) error {
	// The cursors of commands that read no collection, such as bulkWrite, have a name that begins with $cmd.
	if !bytes.HasPrefix(x.command.first.Text(), []byte("$cmd.")) {
		if err := x.collectionName(); err != nil {
			return err
		}
	}
	var killed, missing []int64
	for i := range x.command.args {
		it := wire.Elements(x.command.args[i].Value)
		for it.Next() {
			id, _ := it.Int64()
			if x.dropCursor(id) {
				killed = append(killed, id)
			} else {
				missing = append(missing, id)
			}
		}
	}
	x.result.out = appendInt64s(x.result.out, "cursorsKilled", killed)
	x.result.out = appendInt64s(x.result.out, "cursorsNotFound", missing)
	x.result.out = appendInt64s(x.result.out, "cursorsAlive", nil)
	x.result.out = appendInt64s(x.result.out, "cursorsUnknown", nil)
	return nil
}

func appendInt64s(dst []byte, key string, list []int64) []byte {
	at, dst := wire.BeginArray(dst, key)
	for i, n := range list {
		dst = wire.AppendInt64(dst, wire.ArrayKey(i), n)
	}
	return wire.EndDocument(dst, at)
}
