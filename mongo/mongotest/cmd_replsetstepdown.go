package mongotest

import (
	"time"
)

// https://www.mongodb.com/docs/manual/reference/command/replSetStepDown/

func cmdReplSetStepDown(x *exec) error {
	if err := x.adminOfSet(); err != nil {
		return err
	}
	freeze, ok := x.first.Integer()
	if !ok || freeze < 0 {
		return failf(codeBadValue, "stepdown period must be a positive integer")
	}
	if freeze == 0 {
		freeze = 60
	}
	limit, force := catchUp, false
	for i := range x.args {
		e := &x.args[i]
		switch string(e.Key) {
		case "force":
			force = e.True()
		case "secondaryCatchUpPeriodSecs":
			n, _ := e.Int64()
			limit = time.Duration(max(n, 0)) * time.Second
		default:
			return unknownField(x.name, string(e.Key))
		}
	}
	if force && len(x.args) == 1 {
		limit = 0
	}
	rs, m := x.set, x.member
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if m.role != primary || x.epoch != m.epoch {
		return failf(codeNotWritablePrimary, "not primary so can't step down")
	}
	return rs.stepDownLocked(m, time.Duration(freeze)*time.Second, limit, force, x.done)
}

// adminOfSet refuses a command that only the admin database of a set's member takes.
func (x *exec) adminOfSet() error {
	switch {
	case x.db != "admin":
		return failf(codeUnauthorized, "%s may only be run against the admin database.", x.name)
	case x.set.config.standalone:
		return failf(codeNoReplicationEnabled, "not running with --replSet")
	}
	return nil
}
