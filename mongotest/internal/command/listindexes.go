package command

import (
	"math"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/command/listIndexes/

func cmdListIndexes(x *call.Call) error {
	if err := x.CollectionName(); err != nil {
		return err
	}
	size, building := int64(math.MaxInt32), false
	for i := range x.Command.Args {
		e := &x.Command.Args[i]
		var err error
		switch string(e.Key) {
		case "cursor":
			size, err = x.CursorOption(e, size)
		case "includeIndexBuildInfo":
			building = e.True()
		}
		if err != nil {
			return err
		}
	}
	def, err := call.ReadValue(x, func(x call.Locked) (*store.Definition, error) {
		c, err := x.Stored(x.Command.Full)
		if c == nil {
			return nil, err
		}
		return c.Def, err
	})
	if err != nil {
		return err
	}
	if def == nil {
		return mongoerr.Errorf(mongoerr.NamespaceNotFound, "ns does not exist: %s", x.Command.Full)
	}
	docs := make([][]byte, len(def.Indexes))
	for i, ix := range def.Indexes {
		if docs[i] = ix.Listed(x.Client.Set.Version.ShowsSimpleCollation()); building {
			at, info := wire.BeginDocument(nil)
			docs[i] = wire.EndDocument(wire.AppendDocument(info, "spec", docs[i]), at)
		}
	}
	return x.ReplyCursor(docs, nil, call.CursorReply{Size: size, Ends: true, Order: call.BatchLast})
}
