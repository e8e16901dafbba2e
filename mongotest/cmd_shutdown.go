package mongotest

import (
	"time"

	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
)

// https://www.mongodb.com/docs/manual/reference/command/shutdown/

// A member that shuts down is as one that was killed, but that a primary hands over first unless it is forced not to care.
func cmdShutdown(x *exec) error {
	if err := x.adminOnly(); err != nil {
		return err
	}
	force, limit := false, replica.CatchUp
	for i := range x.command.args {
		e := &x.command.args[i]
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
			return fields.Unknown(x.command.name, name)
		}
	}
	if err := x.handOver(limit, force); err != nil {
		return err
	}
	x.conn.deployment.Kill(x.conn.member.Index)
	return errHangUp
}

// handOver makes a primary of a set step down.
func (x *exec) handOver(limit time.Duration, force bool) error {
	rs, m := x.conn.deployment, x.conn.member
	rs.set.Lock()
	defer rs.set.Unlock()
	if x.conn.epoch != m.Epoch {
		return errHangUp
	}
	if m.Role != replica.Primary || len(rs.cluster.members) == 1 {
		return nil
	}
	err := rs.set.StepDownLocked(m.Member, limit, limit, force, x.conn.done)
	if m.Role != replica.Primary {
		return nil // it lost its majority meanwhile
	}
	return err
}
