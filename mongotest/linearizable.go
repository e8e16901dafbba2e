package mongotest

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
)

// checkLinearizable refuses the read concern where it means nothing.
func (x *call) checkLinearizable() error {
	switch {
	case x.client.set.Standalone:
		return mongoerr.Errorf(mongoerr.NotAReplicaSet, "node needs to be a replica set member to use read concern")
	case !x.command.spec.linearizes:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "Command %s does not support { readConcern: { level: \"linearizable\", provenance: "+
			"\"clientSupplied\" } } :: caused by :: read concern not supported", x.command.name)
	}
	return nil
}

// confirm waits until a majority has a no-op written after the read: then no newer primary had acknowledged anything else
// when the member read.
func (x *call) confirm() error {
	rs, m := x.client.cluster, x.client.member
	rs.set.Lock()
	defer rs.set.Unlock()
	index := int64(0)
	if !x.interruptedLocked() {
		m.AppendLocked(replica.Noop("linearizable read"))
		index = m.Data.Log.Last()
		m.PublishLocked()
	}
	w := replica.NewWaiter(func() bool { return x.interruptedLocked() || m.Commit >= index })
	err := x.inTime(rs.set.AwaitLocked(w, x.client.done, x.limit()))
	switch {
	case x.client.epoch != m.Epoch:
		return errHangUp
	case x.interruptedLocked():
		return mongoerr.Errorf(mongoerr.InterruptedDueToReplStateChange, "operation was interrupted")
	}
	return err
}
