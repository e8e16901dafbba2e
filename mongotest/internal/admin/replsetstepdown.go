package admin

import (
	"time"

	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
)

// https://www.mongodb.com/docs/manual/reference/command/replSetStepDown/

func cmdReplSetStepDown(x *call.Call) error {
	if err := OfSet(x); err != nil {
		return err
	}
	freeze, ok := x.Command.First.Integer()
	if !ok || freeze < 0 {
		return mongoerr.Errorf(mongoerr.BadValue, "stepdown period must be a positive integer")
	}
	if freeze == 0 {
		freeze = 60
	}
	limit, given, force := replica.CatchUp, false, false
	for i := range x.Command.Args {
		e := &x.Command.Args[i]
		switch string(e.Key) {
		case "force":
			force = e.True()
		case "secondaryCatchUpPeriodSecs":
			n, _ := e.Int64()
			if limit, given = time.Duration(n)*time.Second, true; n < 0 {
				return mongoerr.Errorf(mongoerr.BadValue, "secondaryCatchUpPeriodSecs period must be a positive or absent")
			}
		default:
			return fields.Unknown(x.Command.Name, string(e.Key))
		}
	}
	if force && !given {
		limit = 0
	}
	if period := time.Duration(freeze) * time.Second; period < limit {
		return mongoerr.Errorf(mongoerr.BadValue, "stepdown period must be longer than secondaryCatchUpPeriodSecs")
	}
	rs, m := x.Client.Cluster, x.Client.Member
	return call.WithLock(x, func(x call.Locked) error {
		if m.Role != replica.Primary || x.Client.Epoch != m.Epoch {
			return mongoerr.Errorf(mongoerr.NotWritablePrimary, "not primary so can't step down")
		}
		return rs.Set.StepDownLocked(m.Member, time.Duration(freeze)*time.Second, limit, force, x.Client.Done)
	})
}

// OfSet refuses a command that only the admin database of a set's member takes.
func OfSet(x *call.Call) error {
	switch {
	case x.Command.DB != "admin":
		return mongoerr.Errorf(mongoerr.Unauthorized, "%s may only be run against the admin database.", x.Command.Name)
	case x.Client.Set.Standalone:
		return mongoerr.Errorf(mongoerr.NoReplicationEnabled, "not running with --replSet")
	}
	return nil
}

// configured refuses a command that needs a replica set's configuration while there is none, or none with the member.
func configured(x call.Locked, text string) error {
	switch {
	case x.Client.Set.Initiation != replica.Initiated:
		return mongoerr.Errorf(mongoerr.NotYetInitialized, "%s", text)
	case x.Client.Member.Config.Removed:
		return mongoerr.Errorf(mongoerr.InvalidReplicaSetConfig, "Our replica set config is invalid or we are not a member of it")
	}
	return nil
}
