package command

import (
	"slices"
	"strings"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/account"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/command/listDatabases/

func cmdListDatabases(x *call.Call) error {
	if x.Command.DB != "admin" {
		return mongoerr.Errorf(mongoerr.Unauthorized, "listDatabases may only be run against the admin database.")
	}
	filter, nameOnly, authorized := query.EmptyDocument, false, false
	for i := range x.Command.Args {
		e := &x.Command.Args[i]
		switch string(e.Key) {
		case "filter":
			filter = e.Value
			if err := query.CheckDocument(filter); err != nil {
				return err
			}
		case "nameOnly":
			nameOnly = e.True()
		case "authorizedDatabases":
			if !e.True() && !x.Allows(account.Cluster, "listDatabases") {
				return x.Unauthorized()
			}
			authorized = e.True()
		}
	}
	f, err := x.Matcher(filter)
	if err != nil {
		return err
	}
	sizes, err := call.ReadValue(x, func(x call.Locked) ([]databaseSize, error) { return databases(x), nil })
	if err != nil {
		return err
	}
	list := slices.DeleteFunc(withSystem(sizes, x.Client.Router != nil), func(d databaseSize) bool { return !x.MayList(d.name, authorized) })
	return appendDatabases(x, list, f, nameOnly)
}

// systemSize is the least that a database takes up on disk.
const systemSize = 40 << 10

// withSystem adds the databases that each server has. The one named local is a member's own.
func withSystem(list []databaseSize, mongos bool) []databaseSize {
	for _, name := range []string{"admin", "config", "local"} {
		at, found := slices.BinarySearchFunc(list, name, func(d databaseSize, name string) int { return strings.Compare(d.name, name) })
		if !found && (!mongos || name != "local") {
			list = slices.Insert(list, at, databaseSize{name: name, size: systemSize})
		}
	}
	return list
}

// databaseSize is a database and how many bytes it would take up.
type databaseSize struct {
	name string
	size int64
}

func databases(x call.Locked) []databaseSize {
	var list []databaseSize
	for _, ns := range x.Namespaces("") {
		name, _, _ := strings.Cut(ns, ".")
		if len(list) == 0 || list[len(list)-1].name != name {
			list = append(list, databaseSize{name: name})
		}
		list[len(list)-1].size += x.Client.Member.Data.Collections[ns].Storage()
	}
	return list
}

func appendDatabases(x *call.Call, list []databaseSize, f *call.Matcher, nameOnly bool) error {
	at, dst := wire.BeginArray(x.Result.Out, "databases")
	i, total := 0, int64(0)
	for _, d := range list {
		full := d.document(false)
		ok, err := f.Matches(full)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if nameOnly {
			full = d.document(true)
		}
		dst = wire.AppendDocument(dst, wire.ArrayKey(i), full)
		i++
		total += d.size
	}
	dst = wire.EndDocument(dst, at)
	if !nameOnly {
		dst = wire.AppendInt64(dst, "totalSize", total)
		dst = wire.AppendInt64(dst, "totalSizeMb", total>>20)
	}
	x.Result.Out = dst
	return nil
}

func (d databaseSize) document(nameOnly bool) []byte {
	at, dst := wire.BeginDocument(nil)
	dst = wire.AppendString(dst, "name", d.name)
	if !nameOnly {
		dst = wire.AppendInt64(dst, "sizeOnDisk", d.size)
		dst = wire.AppendBool(dst, "empty", d.size == 0)
	}
	return wire.EndDocument(dst, at)
}
