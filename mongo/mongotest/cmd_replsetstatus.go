package mongotest

import (
	"errors"
	"time"

	"github.com/holdfast-db/holdfast/internal/wire"
)

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
	source, _ := m.sourceLocked()
	dst = appendSource(dst, source)
	dst = wire.AppendInt64(dst, "heartbeatIntervalMillis", 2000)
	dst = wire.AppendInt32(dst, "majorityVoteCount", int32(rs.voteMajority))
	dst = wire.AppendInt32(dst, "writeMajorityCount", int32(rs.writeMajority))
	dst = wire.AppendInt32(dst, "votingMembersCount", int32(rs.votes))
	dst = wire.AppendInt32(dst, "writableVotingMembersCount", int32(rs.votes-rs.arbitersLocked()))
	dst = m.appendOpTimes(dst)
	at, dst := wire.BeginArray(dst, "members")
	n := 0
	for _, other := range rs.members {
		if !other.config.removed {
			dst = m.appendStatusLocked(dst, wire.ArrayKey(n), other)
			n++
		}
	}
	x.out = wire.EndDocument(dst, at)
	return nil
}

// appendSource writes whom a member fetches from, nil for nobody.
func appendSource(dst []byte, from *member) []byte {
	host, id := "", int64(-1)
	if from != nil {
		host, id = from.addr, from.config.id
	}
	dst = wire.AppendString(dst, "syncSourceHost", host)
	return wire.AppendInt32(dst, "syncSourceId", int32(id))
}

// appendOpTimes writes how far the member and, as far as it knows, a majority are.
func (m *member) appendOpTimes(dst []byte) []byte {
	last, committed := m.opTimes()
	at, dst := wire.BeginEmbedded(dst, "optimes")
	dst = appendOpTime(dst, "lastCommittedOpTime", committed)
	dst = wire.AppendDateTime(dst, "lastCommittedWallTime", committed.wall())
	dst = appendOpTime(dst, "readConcernMajorityOpTime", committed)
	dst = appendOpTime(dst, "appliedOpTime", last)
	dst = appendOpTime(dst, "durableOpTime", last)
	dst = wire.AppendDateTime(dst, "lastAppliedWallTime", last.wall())
	dst = wire.AppendDateTime(dst, "lastDurableWallTime", last.wall())
	return wire.EndDocument(dst, at)
}

// appendStatusLocked writes what m knows of a member of the set, itself perhaps.
func (m *member) appendStatusLocked(dst []byte, key string, other *member) []byte {
	at, dst := wire.BeginEmbedded(dst, key)
	dst = wire.AppendInt32(dst, "_id", int32(other.config.id))
	dst = wire.AppendString(dst, "name", other.addr)
	if !m.reaches(other) {
		dst = wire.AppendDouble(dst, "health", 0)
		dst = wire.AppendInt32(dst, "state", stateDown)
		dst = wire.AppendString(dst, "stateStr", stateNames[stateDown])
		return wire.EndDocument(dst, at)
	}
	dst = wire.AppendDouble(dst, "health", 1)
	dst = wire.AppendInt32(dst, "state", other.state())
	dst = wire.AppendString(dst, "stateStr", stateNames[other.state()])
	dst = wire.AppendInt32(dst, "uptime", int32(time.Since(other.started).Seconds()))
	if last, _ := other.opTimes(); other.config.bearsData() {
		dst = appendOpTime(dst, "optime", last)
		dst = wire.AppendDateTime(dst, "optimeDate", last.wall())
	}
	source, _ := other.sourceLocked()
	dst = appendSource(dst, source)
	if other.role == primary {
		dst = wire.AppendDateTime(dst, "electionDate", other.elected.UnixMilli())
	}
	dst = wire.AppendInt32(dst, "configVersion", int32(m.set.configVersion))
	if other == m {
		dst = wire.AppendBool(dst, "self", true)
	}
	return wire.EndDocument(dst, at)
}

// The states of a member, by the numbers of replSetGetStatus.
const (
	stateStartup   int32 = 0
	statePrimary   int32 = 1
	stateSecondary int32 = 2
	stateArbiter   int32 = 7
	stateDown      int32 = 8
	stateRemoved   int32 = 10
)

// stateNames are what the states are called. It is never written to.
var stateNames = map[int32]string{
	statePrimary: "PRIMARY", stateSecondary: "SECONDARY", stateArbiter: "ARBITER", stateDown: "(not reachable/healthy)",
	stateStartup: "STARTUP", stateRemoved: "REMOVED",
}

func (m *member) state() int32 {
	switch {
	case m.set.initiation != initiated:
		return stateStartup
	case m.config.removed:
		return stateRemoved
	case m.config.arbiter:
		return stateArbiter
	case m.role == primary:
		return statePrimary
	}
	return stateSecondary
}
