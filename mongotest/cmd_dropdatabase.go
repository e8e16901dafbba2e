package mongotest

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/command/dropDatabase/

func cmdDropDatabase(x *call) error {
	switch {
	case x.command.first.Type == bson.TypeNull:
		return fields.Missing("dropDatabase", "dropDatabase")
	case !x.command.first.IsNumber():
		return mongoerr.Errorf(mongoerr.TypeMismatch, "BSON field 'dropDatabase.dropDatabase' is the wrong type '%s', expected types '[int, double, "+
			"decimal, long]'", query.TypeName(x.command.first.Type))
	case x.command.first.Clamped() != 1:
		return mongoerr.Errorf(5255100, "Have to pass 1 as 'drop' parameter")
	}
	if db := x.command.db; db == "admin" || db == "local" || db == "config" && x.client.router != nil {
		return mongoerr.Errorf(mongoerr.IllegalOperation, "Dropping the '%s' database is prohibited.", db)
	}
	existed := false
	note := x.note(0, nil)
	err := x.writing(func() error {
		for _, ns := range x.client.member.namespacesLocked(x.command.db) {
			existed = true
			if err := x.appendLocked(&store.Entry{Kind: store.Drop, NS: ns}, -1, note); err != nil {
				return err
			}
		}
		if existed {
			return x.appendLocked(&store.Entry{Kind: store.EmptyDatabase, NS: x.command.db}, -1, nil)
		}
		return nil
	})
	if err == nil && existed && x.client.set.Version.TellsDropped() {
		x.result.out = wire.AppendString(x.result.out, "dropped", x.command.db)
	}
	return err
}

// namespacesLocked returns the namespaces of a database in order, or of all with "".
func (m *member) namespacesLocked(db string) []string {
	var list []string
	for ns := range m.Data.Collections {
		if db == "" || strings.HasPrefix(ns, db+".") {
			list = append(list, ns)
		}
	}
	slices.Sort(list)
	return list
}
