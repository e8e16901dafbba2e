package mongotest

import (
	"time"

	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
)

// https://www.mongodb.com/docs/manual/reference/command/shutdown/

// A member that shuts down is as one that was killed, but that a primary hands over first unless it is forced not to care.
func cmdShutdown(x *exec) error {
	if err := x.AdminOnly(); err != nil {
		return err
	}
	force, limit := false, replica.CatchUp
	for i := range x.Command.Args {
		e := &x.Command.Args[i]
		switch name := string(e.Key); name {
		case "force":
			force = e.True()
		case "timeoutSecs":
			n, ok := e.Int64()
			if !ok || n < 0 {
				return mongoerr.Errorf(mongoerr.BadValue, "timeoutSecs must be a number that is not negative")
			}
			limit = time.Duration(n) * time.Second
		default:
			return fields.Unknown(x.Command.Name, name)
		}
	}
	if err := call.WithLock(&x.Call, func(l call.Locked) error { return handOver(l, limit, force) }); err != nil {
		return err
	}
	x.conn.deployment.Kill(x.conn.Member.Index)
	return call.ErrHangUp
}

// handOver makes a primary of a set step down.
func handOver(x call.Locked, limit time.Duration, force bool) error {
	m := x.Client.Member
	if x.Client.Epoch != m.Epoch {
		return call.ErrHangUp
	}
	if m.Role != replica.Primary || len(x.Client.Cluster.Members) == 1 {
		return nil
	}
	err := x.Client.Set.StepDownLocked(m.Member, limit, limit, force, x.Client.Done)
	if m.Role != replica.Primary {
		return nil // it lost its majority meanwhile
	}
	return err
}
