package mongotest

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// https://www.mongodb.com/docs/manual/reference/command/killCursors/

func cmdKillCursors(x *call) error {
	if err := x.cursorCollection(); err != nil {
		return err
	}
	for i := range x.command.args {
		for it := wire.Elements(x.command.args[i].Value); it.Next(); {
			id, _ := it.Int64()
			if err := x.checkKill(id); err != nil {
				return err
			}
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

// cursorCollection is collectionName for killCursors: the cursors of a database's commands have a collection such as "$cmd.aggregate",
// and the real server takes any name with a dollar.
func (x *call) cursorCollection() error {
	c := &x.command
	if text := string(c.first.Text()); c.first.Type == bson.TypeString && strings.Contains(text, "$") && !strings.HasPrefix(text, ".") {
		c.coll, c.full = text, c.db+"."+text
		return nil
	}
	return x.collectionName()
}

func appendInt64s(dst []byte, key string, list []int64) []byte {
	at, dst := wire.BeginArray(dst, key)
	for i, n := range list {
		dst = wire.AppendInt64(dst, wire.ArrayKey(i), n)
	}
	return wire.EndDocument(dst, at)
}
