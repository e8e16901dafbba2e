package call

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
)

// checkLinearizable refuses the read concern where it means nothing.
func checkLinearizable(x *Call) error {
	switch {
	case x.Client.Set.Standalone:
		return mongoerr.Errorf(mongoerr.NotAReplicaSet, "node needs to be a replica set member to use read concern")
	case !x.Command.Spec.Linearizes:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "Command %s does not support { readConcern: { level: \"linearizable\", provenance: "+
			"\"clientSupplied\" } } :: caused by :: read concern not supported", x.Command.Name)
	}
	return nil
}

// confirm waits until a majority has a no-op written after the read: then no newer primary had acknowledged anything else
// when the member read.
func confirm(x Locked) error {
	m := x.Client.Member
	index := int64(0)
	if !demoted(x) {
		m.AppendLocked(replica.Noop("linearizable read"))
		index = m.Data.Log.Last()
		m.PublishLocked()
	}
	w := replica.NewWaiter(func() bool { return demoted(x) || m.Commit >= index })
	err := inTime(x.Client.Set.AwaitLocked(w, x.Client.Done, limit(x.Call)))
	switch {
	case x.Client.Epoch != m.Epoch:
		return ErrHangUp
	case demoted(x):
		return mongoerr.Errorf(mongoerr.InterruptedDueToReplStateChange, "operation was interrupted")
	}
	return err
}
