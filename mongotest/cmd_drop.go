package mongotest

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/command/drop/

func cmdDrop(x *call) error {
	if err := x.collectionName(); err != nil {
		return err
	}
	indexes, dropped := -1, false
	note := x.note(0, nil)
	err := x.writing(func() error {
		if c := x.client.member.Data.Collections[x.command.full]; c != nil {
			if err := checkDropping(x.command.db, x.command.coll); err != nil {
				return err
			}
			if dropped = true; !c.IsView() {
				indexes = c.Def.Built()
			}
			return x.appendLocked(&store.Entry{Kind: store.Drop, NS: x.command.full}, -1, note)
		}
		return nil
	})
	if err == nil && dropped {
		if indexes >= 0 {
			x.result.out = wire.AppendInt32(x.result.out, "nIndexesWas", int32(indexes))
		}
		x.result.out = wire.AppendString(x.result.out, "ns", x.command.full)
	}
	return err
}
