package mongotest

import (
	"time"

	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
)

// https://www.mongodb.com/docs/manual/reference/command/replSetStepDown/

func cmdReplSetStepDown(x *call) error {
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
	rs, m := x.client.cluster, x.client.member
	rs.set.Lock()
	defer rs.set.Unlock()
	if m.Role != replica.Primary || x.client.epoch != m.Epoch {
		return mongoerr.Errorf(mongoerr.NotWritablePrimary, "not primary so can't step down")
	}
	return rs.set.StepDownLocked(m.Member, time.Duration(freeze)*time.Second, limit, force, x.client.done)
}

// adminOfSet refuses a command that only the admin database of a set's member takes.
func (x *call) adminOfSet() error {
	switch {
	case x.command.db != "admin":
		return mongoerr.Errorf(mongoerr.Unauthorized, "%s may only be run against the admin database.", x.command.name)
	case x.client.set.Standalone:
		return mongoerr.Errorf(mongoerr.NoReplicationEnabled, "not running with --replSet")
	}
	return nil
}

// configuredLocked refuses a command that needs a replica set's configuration while there is none, or none with the member.
func (x *call) configuredLocked(text string) error {
	switch {
	case x.client.set.Initiation != replica.Initiated:
		return mongoerr.Errorf(mongoerr.NotYetInitialized, "%s", text)
	case x.client.member.Config.Removed:
		return mongoerr.Errorf(mongoerr.InvalidReplicaSetConfig, "Our replica set config is invalid or we are not a member of it")
	}
	return nil
}
