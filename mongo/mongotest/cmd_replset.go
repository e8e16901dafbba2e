package mongotest

import (
	"errors"
	"time"

	"github.com/holdfast-db/holdfast/internal/wire"
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

// https://www.mongodb.com/docs/manual/reference/command/replSetGetStatus/

func cmdReplSetGetStatus(x *exec) error {
	if err := errors.Join(x.adminOfSet(), x.noArgs()); err != nil {
		return err
	}
	rs, m := x.set, x.member
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if err := x.configuredLocked("no replset config has been received"); err != nil {
		return err
	}
	dst := wire.AppendString(x.out, "set", rs.config.setName)
	dst = wire.AppendDateTime(dst, "date", time.Now().UnixMilli())
	dst = wire.AppendInt32(dst, "myState", m.state())
	dst = wire.AppendInt64(dst, "term", m.term)
	dst = wire.AppendInt32(dst, "majorityVoteCount", int32(rs.majority()))
	at, dst := wire.BeginArray(dst, "members")
	for _, other := range rs.members {
		one, d := wire.BeginEmbedded(dst, wire.ArrayKey(other.index))
		d = wire.AppendInt32(d, "_id", int32(other.config.id))
		d = wire.AppendString(d, "name", other.addr)
		state := int32(8)
		if m.reaches(other) {
			state = other.state()
		}
		d = wire.AppendDouble(d, "health", float64(min(1, 8-state)))
		d = wire.AppendInt32(d, "state", state)
		d = wire.AppendString(d, "stateStr", map[int32]string{1: "PRIMARY", 2: "SECONDARY", 8: "(not reachable/healthy)"}[state])
		if e := other.log.tail(); e != nil && state != 8 {
			d = appendOpTime(d, "optime", e)
		}
		if other == m {
			d = wire.AppendBool(d, "self", true)
		}
		dst = wire.EndDocument(d, one)
	}
	x.out = wire.EndDocument(dst, at)
	return nil
}

// state is the member's state by the numbers of replSetGetStatus.
func (m *member) state() int32 {
	if m.role == primary {
		return 1
	}
	return 2
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
