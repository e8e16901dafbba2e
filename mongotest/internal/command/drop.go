package command

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/profiling"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/command/drop/

func cmdDrop(x *call.Call) error {
	if err := x.CollectionName(); err != nil {
		return err
	}
	indexes, dropped := -1, false
	note := x.Note(0, nil)
	err := x.Writing(func(x call.Locked) error {
		if c := x.Client.Member.Data.Collections[x.Command.Full]; c != nil {
			if err := checkDropping(x); err != nil {
				return err
			}
			if dropped = true; !c.IsView() {
				indexes = c.Def.Built()
			}
			return x.Append(&store.Entry{Op: store.Drop, NS: x.Command.Full}, -1, note)
		}
		return nil
	})
	if err == nil && dropped {
		if indexes >= 0 {
			x.Result.Out = wire.AppendInt32(x.Result.Out, "nIndexesWas", int32(indexes))
		}
		x.Result.Out = wire.AppendString(x.Result.Out, "ns", x.Command.Full)
	}
	return err
}

// checkDropping refuses to drop a collection of the server's own that is there, that of a profiler while the profiler is on.
func checkDropping(x call.Locked) error {
	if x.Command.Coll == store.ProfileName && x.Client.Member.Profiling.Of(x.Command.DB).Level != profiling.Off {
		return mongoerr.Errorf(mongoerr.IllegalOperation, "turn off profiling before dropping system.profile collection")
	}
	return call.CheckDropping(x.Command.DB, x.Command.Coll)
}
