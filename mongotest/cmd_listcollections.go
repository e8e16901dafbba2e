package mongotest

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/permission"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/command/listCollections/

func cmdListCollections(x *call) error {
	filter, nameOnly, size := query.EmptyDocument, false, int64(1<<31)
	for i := range x.command.args {
		e := &x.command.args[i]
		var err error
		switch string(e.Key) {
		case "filter":
			filter = e.Value
			err = query.CheckDocument(filter)
		case "nameOnly":
			nameOnly = e.True()
		case "cursor":
			size, err = x.cursorOption(e, size)
		}
		if err != nil {
			return err
		}
	}
	f, err := x.matcher(filter)
	if err != nil {
		return err
	}
	return x.listCollections(f, nameOnly, size)
}

func (x *call) listCollections(f *matcher, nameOnly bool, size int64) error {
	docs, err := x.collectionInfos(f, nameOnly)
	if err != nil {
		return err
	}
	x.command.full, x.command.coll = x.command.db+".$cmd.listCollections", ""
	err = x.replyCursor(docs, nil, cursorReply{size: size, ends: true, order: batchLast})
	x.command.full = ""
	return err
}

func (x *call) collectionInfos(f *matcher, nameOnly bool) ([][]byte, error) {
	if err := x.reading(); err != nil {
		return nil, err
	}
	defer x.client.set.Unlock()
	var docs, list [][]byte
	m := x.client.member
	for _, ns := range m.namespacesLocked(x.command.db) {
		if !x.arg("authorizedCollections").True() || x.allows(permission.InFull(ns), "find") {
			list = append(list, m.Data.Collections[ns].Def.Info(ns[len(x.command.db)+1:], nameOnly))
		}
	}
	if x.command.db == "local" && m.HasOplogLocked() {
		list = append(list, m.OplogLocked(0).Def.Info("oplog.rs", nameOnly))
	}
	for _, info := range list {
		ok, err := f.matches(info)
		if err != nil {
			return nil, err
		}
		if ok {
			docs = append(docs, info)
		}
	}
	return docs, nil
}
