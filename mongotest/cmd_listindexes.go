package mongotest

import (
	"math"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/command/listIndexes/

func cmdListIndexes(x *call) error {
	if err := x.collectionName(); err != nil {
		return err
	}
	size, building := int64(math.MaxInt32), false
	for i := range x.command.args {
		e := &x.command.args[i]
		var err error
		switch string(e.Key) {
		case "cursor":
			size, err = x.cursorOption(e, size)
		case "includeIndexBuildInfo":
			building = e.True()
		}
		if err != nil {
			return err
		}
	}
	if err := x.reading(); err != nil {
		return err
	}
	var def *store.Definition
	c, err := x.client.member.storedLocked(x.command.full)
	if c != nil {
		def = c.Def
	}
	x.client.set.Unlock()
	if err != nil {
		return err
	}
	if def == nil {
		return mongoerr.Errorf(mongoerr.NamespaceNotFound, "ns does not exist: %s", x.command.full)
	}
	docs := make([][]byte, len(def.Indexes))
	for i, ix := range def.Indexes {
		if docs[i] = ix.Listed(x.client.set.Version.ShowsSimpleCollation()); building {
			at, info := wire.BeginDocument(nil)
			docs[i] = wire.EndDocument(wire.AppendDocument(info, "spec", docs[i]), at)
		}
	}
	return x.replyCursor(docs, nil, cursorReply{size: size, ends: true, order: batchLast})
}
