package command

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
)

// https://www.mongodb.com/docs/manual/reference/command/killCursors/

func cmdKillCursors(x *call.Call) error {
	if err := cursorCollection(x); err != nil {
		return err
	}
	for i := range x.Command.Args {
		for it := wire.Elements(x.Command.Args[i].Value); it.Next(); {
			id, _ := it.Int64()
			if err := x.CheckKill(id); err != nil {
				return err
			}
		}
	}
	var killed, missing []int64
	for i := range x.Command.Args {
		it := wire.Elements(x.Command.Args[i].Value)
		for it.Next() {
			id, _ := it.Int64()
			if call.WithLock(x, func(x call.Locked) bool { return dropCursor(x, id) }) {
				killed = append(killed, id)
			} else {
				missing = append(missing, id)
			}
		}
	}
	x.Result.Out = appendInt64s(x.Result.Out, "cursorsKilled", killed)
	x.Result.Out = appendInt64s(x.Result.Out, "cursorsNotFound", missing)
	x.Result.Out = appendInt64s(x.Result.Out, "cursorsAlive", nil)
	x.Result.Out = appendInt64s(x.Result.Out, "cursorsUnknown", nil)
	return nil
}

// cursorCollection is collectionName for killCursors: the cursors of a database's commands have a collection such as "$cmd.aggregate",
// and the real server takes any name with a dollar.
func cursorCollection(x *call.Call) error {
	c := &x.Command
	if text := string(c.First.Text()); c.First.Type == bson.TypeString && strings.Contains(text, "$") && !strings.HasPrefix(text, ".") {
		c.Coll, c.Full = text, c.DB+"."+text
		return nil
	}
	return x.CollectionName()
}

func appendInt64s(dst []byte, key string, list []int64) []byte {
	at, dst := wire.BeginArray(dst, key)
	for i, n := range list {
		dst = wire.AppendInt64(dst, wire.ArrayKey(i), n)
	}
	return wire.EndDocument(dst, at)
}
