package mongotest

import (
	"time"

	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
)

// https://www.mongodb.com/docs/manual/reference/command/replSetStepDown/

func cmdReplSetStepDown(x *exec) error {
	if err := x.adminOfSet(); err != nil {
		return err
	}
	freeze, ok := x.command.first.Integer()
	if !ok || freeze < 0 {
		return mongoerr.Errorf(mongoerr.BadValue, "stepdown period must be a positive integer")
	}
	if freeze == 0 {
		freeze = 60
	}
	limit, given, force := replica.CatchUp, false, false
	for i := range x.command.args {
		e := &x.command.args[i]
		switch string(e.Key) {
		case "force":
			force = e.True()
		case "secondaryCatchUpPeriodSecs":
			n, _ := e.Int64()
			if limit, given = time.Duration(n)*time.Second, true; n < 0 {
				return mongoerr.Errorf(mongoerr.BadValue, "secondaryCatchUpPeriodSecs period must be a positive or absent")
			}
		default:
			return fields.Unknown(x.command.name, string(e.Key))
		}
	}
	if force && !given {
		limit = 0
	}
	if period := time.Duration(freeze) * time.Second; period < limit {
		return mongoerr.Errorf(mongoerr.BadValue, "stepdown period must be longer than secondaryCatchUpPeriodSecs")
	}
	rs, m := x.conn.deployment, x.conn.member
	rs.set.Lock()
	defer rs.set.Unlock()
	if m.Role != replica.Primary || x.conn.epoch != m.Epoch {
		return mongoerr.Errorf(mongoerr.NotWritablePrimary, "not primary so can't step down")
	}
	return rs.set.StepDownLocked(m.Member, time.Duration(freeze)*time.Second, limit, force, x.conn.done)
}

// adminOfSet refuses a command that only the admin database of a set's member takes.
func (x *exec) adminOfSet() error {
	switch {
	case x.command.db != "admin":
		return mongoerr.Errorf(mongoerr.Unauthorized, "%s may only be run against the admin database.", x.command.name)
	case x.conn.set.Standalone:
		return mongoerr.Errorf(mongoerr.NoReplicationEnabled, "not running with --replSet")
	}
	return nil
}
