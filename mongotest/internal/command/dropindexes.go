package command

import (
	"slices"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/command/dropIndexes/

func cmdDropIndexes(x *call.Call) error {
	if err := x.CollectionName(); err != nil {
		return err
	}
	var wanted query.Value
	for i := range x.Command.Args {
		wanted = query.Of(x.Command.Args[i])
	}
	if err := call.CheckIndexChoice(wanted); err != nil {
		return err
	}
	was, all := 0, store.IsStar(wanted)
	note := x.Note(0, nil)
	err := x.Writing(func(x call.Locked) error {
		c, err := x.Stored(x.Command.Full)
		if err != nil {
			return err
		}
		if c == nil {
			return mongoerr.Errorf(mongoerr.NamespaceNotFound, "ns not found %s", x.Command.Full)
		}
		was = c.Def.Built()
		gone, err := c.Def.Chosen(wanted, x.Client.Set.Version.NeedsIndexesToDrop())
		if err != nil || len(gone) == 0 {
			return err
		}
		left := slices.DeleteFunc(slices.Clone(c.Def.Indexes), func(ix *store.Index) bool { return slices.Contains(gone, ix) })
		return x.Append(&store.Entry{Op: store.Alter, NS: x.Command.Full, Change: &store.Change{Before: c.Def, After: c.Def.With(left)}}, -1, note)
	})
	if err != nil {
		note.ErrorCode = mongoerr.CodeOf(err)
		return err
	}
	x.Result.Out = wire.AppendInt32(x.Result.Out, "nIndexesWas", int32(was))
	if all {
		x.Result.Out = wire.AppendString(x.Result.Out, "msg", "non-_id indexes dropped for collection")
	}
	return nil
}
