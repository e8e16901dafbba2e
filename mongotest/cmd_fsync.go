package mongotest

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// https://www.mongodb.com/docs/manual/reference/command/fsync/

func cmdFsync(x *call) error {
	if err := x.adminOnly(); err != nil {
		return err
	}
	lock := x.arg("lock")
	switch {
	case !lock.True():
		x.result.out = wire.AppendInt32(x.result.out, "numFiles", 1)
		return nil
	case x.client.router != nil:
		return fields.Unsupported("fsync", "lock")
	}
	m := x.client.member
	x.client.set.Lock()
	m.FsyncLocks++
	n := m.FsyncLocks
	x.client.set.Unlock()
	x.result.out = wire.AppendString(x.result.out, "info", "now locked against writes, use db.fsyncUnlock() to unlock")
	x.result.out = wire.AppendInt64(x.result.out, "lockCount", n)
	x.result.out = wire.AppendString(x.result.out, "seeAlso", "http://dochub.mongodb.org/core/fsynccommand")
	return nil
}

// https://www.mongodb.com/docs/manual/reference/command/fsyncUnlock/

func cmdFsyncUnlock(x *call) error {
	if err := x.adminOnly(); err != nil {
		return err
	}
	if x.client.router != nil {
		return mongoerr.Errorf(mongoerr.NotImplemented, "mongotest: fsyncUnlock at a mongos is not supported")
	}
	rs, m := x.client.cluster, x.client.member
	rs.set.Lock()
	defer rs.set.Unlock()
	if m.FsyncLocks == 0 {
		return mongoerr.Errorf(mongoerr.IllegalOperation, "fsyncUnlock called when not locked")
	}
	m.FsyncLocks--
	m.NotifyReplication()
	rs.set.ChangedLocked()
	x.result.out = wire.AppendString(x.result.out, "info", "fsyncUnlock completed")
	x.result.out = wire.AppendInt64(x.result.out, "lockCount", m.FsyncLocks)
	return nil
}
