package command

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/permission"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/command/listCollections/

func cmdListCollections(x *call.Call) error {
	filter, nameOnly, size := query.EmptyDocument, false, int64(1<<31)
	for i := range x.Command.Args {
		e := &x.Command.Args[i]
		var err error
		switch string(e.Key) {
		case "filter":
			filter = e.Value
			err = query.CheckDocument(filter)
		case "nameOnly":
			nameOnly = e.True()
		case "cursor":
			size, err = x.CursorOption(e, size)
		}
		if err != nil {
			return err
		}
	}
	f, err := x.Matcher(filter)
	if err != nil {
		return err
	}
	return listCollections(x, f, nameOnly, size)
}

func listCollections(x *call.Call, f *call.Matcher, nameOnly bool, size int64) error {
	docs, err := call.ReadValue(x, func(x call.Locked) ([][]byte, error) { return collectionInfos(x, f, nameOnly) })
	if err != nil {
		return err
	}
	x.Command.Full, x.Command.Coll = x.Command.DB+".$cmd.listCollections", ""
	err = x.ReplyCursor(docs, nil, call.CursorReply{Size: size, Ends: true, Order: call.BatchLast})
	x.Command.Full = ""
	return err
}

func collectionInfos(x call.Locked, f *call.Matcher, nameOnly bool) ([][]byte, error) {
	var docs, list [][]byte
	m := x.Client.Member
	for _, ns := range x.Namespaces(x.Command.DB) {
		if !x.Arg("authorizedCollections").True() || x.Allows(permission.InFull(ns), "find") {
			list = append(list, m.Data.Collections[ns].Def.Info(ns[len(x.Command.DB)+1:], nameOnly))
		}
	}
	if x.Command.DB == "local" && m.HasOplogLocked() {
		list = append(list, m.OplogLocked(0).Def.Info("oplog.rs", nameOnly))
	}
	for _, info := range list {
		ok, err := f.Matches(info)
		if err != nil {
			return nil, err
		}
		if ok {
			docs = append(docs, info)
		}
	}
	return docs, nil
}
