package mongotest

import (
	"slices"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/command/dropIndexes/

func cmdDropIndexes(x *call) error {
	if err := x.collectionName(); err != nil {
		return err
	}
	var wanted query.Value
	for i := range x.command.args {
		wanted = query.Of(x.command.args[i])
	}
	if err := checkIndexChoice(wanted); err != nil {
		return err
	}
	was, all := 0, store.IsStar(wanted)
	note := x.note(0, nil)
	err := x.writing(func() error {
		c, err := x.client.member.storedLocked(x.command.full)
		if err != nil {
			return err
		}
		if c == nil {
			return mongoerr.Errorf(mongoerr.NamespaceNotFound, "ns not found %s", x.command.full)
		}
		was = c.Def.Built()
		gone, err := c.Def.Chosen(wanted, x.client.set.Version.NeedsIndexesToDrop())
		if err != nil || len(gone) == 0 {
			return err
		}
		left := slices.DeleteFunc(slices.Clone(c.Def.Indexes), func(ix *store.Index) bool { return slices.Contains(gone, ix) })
		return x.appendLocked(&store.Entry{Kind: store.Alter, NS: x.command.full, Change: &store.Change{Before: c.Def, After: c.Def.With(left)}}, -1, note)
	})
	if err != nil {
		note.ErrorCode = mongoerr.CodeOf(err)
		return err
	}
	x.result.out = wire.AppendInt32(x.result.out, "nIndexesWas", int32(was))
	if all {
		x.result.out = wire.AppendString(x.result.out, "msg", "non-_id indexes dropped for collection")
	}
	return nil
}
