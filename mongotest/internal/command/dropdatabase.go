package command

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/command/dropDatabase/

func cmdDropDatabase(x *call.Call) error {
	switch {
	case x.Command.First.Type == bson.TypeNull:
		return fields.Missing("dropDatabase", "dropDatabase")
	case !x.Command.First.IsNumber():
		return mongoerr.Errorf(mongoerr.TypeMismatch, "BSON field 'dropDatabase.dropDatabase' is the wrong type '%s', expected types '[int, double, "+
			"decimal, long]'", query.TypeName(x.Command.First.Type))
	case x.Command.First.Clamped() != 1:
		return mongoerr.Errorf(5255100, "Have to pass 1 as 'drop' parameter")
	}
	if db := x.Command.DB; db == "admin" || db == "local" || db == "config" && x.Client.Router != nil {
		return mongoerr.Errorf(mongoerr.IllegalOperation, "Dropping the '%s' database is prohibited.", db)
	}
	existed := false
	note := x.Note(0, nil)
	err := x.Writing(func(x call.Locked) error {
		for _, ns := range x.Namespaces(x.Command.DB) {
			existed = true
			if err := x.Append(&store.Entry{Op: store.Drop, NS: ns}, -1, note); err != nil {
				return err
			}
		}
		if existed {
			x.Client.Member.Profiling.Forget(x.Command.DB)
			return x.Append(&store.Entry{Op: store.EmptyDatabase, NS: x.Command.DB}, -1, nil)
		}
		return nil
	})
	if err == nil && existed && x.Client.Set.Version.TellsDropped() {
		x.Result.Out = wire.AppendString(x.Result.Out, "dropped", x.Command.DB)
	}
	return err
}
