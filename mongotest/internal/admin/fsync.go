package admin

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// https://www.mongodb.com/docs/manual/reference/command/fsync/

func cmdFsync(x *call.Call) error {
	if err := x.AdminOnly(); err != nil {
		return err
	}
	lock := x.Arg("lock")
	switch {
	case !lock.True():
		x.Result.Out = wire.AppendInt32(x.Result.Out, "numFiles", 1)
		return nil
	case x.Client.Router != nil:
		return fields.Unsupported("fsync", "lock")
	}
	n := call.WithLock(x, func(x call.Locked) int64 {
		x.Client.Member.FsyncLocks++
		return x.Client.Member.FsyncLocks
	})
	x.Result.Out = wire.AppendString(x.Result.Out, "info", "now locked against writes, use db.fsyncUnlock() to unlock")
	x.Result.Out = wire.AppendInt64(x.Result.Out, "lockCount", n)
	x.Result.Out = wire.AppendString(x.Result.Out, "seeAlso", "http://dochub.mongodb.org/core/fsynccommand")
	return nil
}

// https://www.mongodb.com/docs/manual/reference/command/fsyncUnlock/

func cmdFsyncUnlock(x *call.Call) error {
	if err := x.AdminOnly(); err != nil {
		return err
	}
	if x.Client.Router != nil {
		return mongoerr.Errorf(mongoerr.NotImplemented, "mongotest: fsyncUnlock at a mongos is not supported")
	}
	rs, m := x.Client.Cluster, x.Client.Member
	return call.WithLock(x, func(x call.Locked) error {
		if m.FsyncLocks == 0 {
			return mongoerr.Errorf(mongoerr.IllegalOperation, "fsyncUnlock called when not locked")
		}
		m.FsyncLocks--
		m.NotifyReplication()
		rs.Set.ChangedLocked()
		x.Result.Out = wire.AppendString(x.Result.Out, "info", "fsyncUnlock completed")
		x.Result.Out = wire.AppendInt64(x.Result.Out, "lockCount", m.FsyncLocks)
		return nil
	})
}
