package mongotest

import (
	"errors"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/command/replSetGetStatus/

func cmdReplSetGetStatus(x *exec) error {
	if err := errors.Join(x.adminOfSet(), x.noArgs()); err != nil {
		return err
	}
	rs, m := x.conn.set, x.conn.member
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if err := x.configuredLocked("no replset config has been received"); err != nil {
		return err
	}
	dst := wire.AppendString(x.result.out, "set", rs.config.setName)
	dst = wire.AppendDateTime(dst, "date", time.Now().UnixMilli())
	dst = wire.AppendInt32(dst, "myState", m.state())
	dst = wire.AppendInt64(dst, "term", m.term)
	source, _ := m.sourceLocked()
	dst = appendSource(dst, source)
	dst = wire.AppendInt64(dst, "heartbeatIntervalMillis", heartbeats.Milliseconds())
	dst = wire.AppendInt32(dst, "majorityVoteCount", int32(rs.voteMajority))
	dst = wire.AppendInt32(dst, "writeMajorityCount", int32(rs.writeMajority))
	dst = wire.AppendInt32(dst, "votingMembersCount", int32(rs.votes))
	dst = wire.AppendInt32(dst, "writableVotingMembersCount", int32(rs.votes-rs.arbitersLocked()))
	dst = m.appendOpTimes(dst)
	at, dst := wire.BeginArray(dst, "members")
	n := 0
	for _, other := range rs.members {
		if !other.config.Removed {
			dst = m.appendStatusLocked(dst, wire.ArrayKey(n), other)
			n++
		}
	}
	x.result.out = wire.EndDocument(dst, at)
	return nil
}

// appendSource writes whom a member fetches from, nil for nobody.
func appendSource(dst []byte, from *member) []byte {
	host, id := "", int64(-1)
	if from != nil {
		host, id = from.addr, from.config.ID
	}
	dst = wire.AppendString(dst, "syncSourceHost", host)
	return wire.AppendInt32(dst, "syncSourceId", int32(id))
}

// appendOpTimes writes how far the member and, as far as it knows, a majority are.
func (m *member) appendOpTimes(dst []byte) []byte {
	last, committed := m.opTimes()
	at, dst := wire.BeginEmbedded(dst, "optimes")
	dst = appendOpTime(dst, "lastCommittedOpTime", committed)
	dst = wire.AppendDateTime(dst, "lastCommittedWallTime", committed.Wall())
	dst = appendOpTime(dst, "readConcernMajorityOpTime", committed)
	dst = appendOpTime(dst, "appliedOpTime", last)
	dst = appendOpTime(dst, "durableOpTime", last)
	dst = wire.AppendDateTime(dst, "lastAppliedWallTime", last.Wall())
	dst = wire.AppendDateTime(dst, "lastDurableWallTime", last.Wall())
	return wire.EndDocument(dst, at)
}

// appendStatusLocked writes what m knows of a member of the set, itself perhaps.
func (m *member) appendStatusLocked(dst []byte, key string, other *member) []byte {
	at, dst := wire.BeginEmbedded(dst, key)
	dst = wire.AppendInt32(dst, "_id", int32(other.config.ID))
	dst = wire.AppendString(dst, "name", other.addr)
	health, state, uptime := 1.0, other.state(), time.Since(other.started)
	heard := m.reaches(other)
	if !heard {
		health, state, uptime = 0, stateDown, 0
	}
	dst = wire.AppendDouble(dst, "health", health)
	dst = wire.AppendInt32(dst, "state", state)
	dst = wire.AppendString(dst, "stateStr", stateNames[state])
	dst = wire.AppendInt32(dst, "uptime", int32(uptime.Seconds()))
	dst = m.appendProgress(dst, other, heard)
	if other != m {
		dst = appendHeartbeat(dst, other, heard)
	}
	var source *member
	if heard {
		source, _ = other.sourceLocked()
	}
	dst = wire.AppendString(appendSource(dst, source), "infoMessage", "")
	if heard && other.role == primary {
		seconds := other.elected.Unix()
		dst = wire.AppendTimestamp(dst, "electionTime", uint32(seconds), 1)
		dst = wire.AppendDateTime(dst, "electionDate", seconds*1000)
	}
	dst = m.set.appendConfigLocked(dst, heard)
	if other == m {
		dst = wire.AppendBool(dst, "self", true)
		dst = wire.AppendString(dst, "lastHeartbeatMessage", "")
	}
	return wire.EndDocument(dst, at)
}

// appendProgress writes how far a member is that has data: of one that is not heard of nothing is known.
func (m *member) appendProgress(dst []byte, other *member, heard bool) []byte {
	if !other.config.BearsData() {
		return dst
	}
	last := &store.Entry{Term: -1}
	if heard {
		last, _ = other.opTimes()
	}
	dst = appendOpTime(dst, "optime", last)
	if other != m {
		dst = appendOpTime(dst, "optimeDurable", last)
	}
	dst = wire.AppendDateTime(dst, "optimeDate", last.Wall())
	if other != m {
		dst = wire.AppendDateTime(dst, "optimeDurableDate", last.Wall())
	}
	return dst
}

// heartbeats is how often the real members of a set ask for each other.
const heartbeats = 2 * time.Second

// appendHeartbeat writes when another member was heard of last, as if there were heartbeats from its start on. It is not
// known when one that is lost was.
func appendHeartbeat(dst []byte, other *member, heard bool) []byte {
	last := other.started.Add(time.Since(other.started).Truncate(heartbeats))
	received, message := last, ""
	if !heard {
		received, message = other.started, "Error connecting to "+other.addr
	}
	dst = wire.AppendDateTime(dst, "lastHeartbeat", last.UnixMilli())
	dst = wire.AppendDateTime(dst, "lastHeartbeatRecv", received.UnixMilli())
	dst = wire.AppendInt64(dst, "pingMs", 0)
	return wire.AppendString(dst, "lastHeartbeatMessage", message)
}

// appendConfigLocked writes which configuration a member has, if it is heard of. The term is known since 4.4.
func (rs *Deployment) appendConfigLocked(dst []byte, heard bool) []byte {
	version, term := rs.configVersion, rs.termLocked()
	if !heard {
		version, term = -1, -1
	}
	dst = wire.AppendInt32(dst, "configVersion", int32(version))
	if rs.config.version.AtLeast(4, 4) {
		dst = query.AppendSmallest(dst, "configTerm", term)
	}
	return dst
}

// The states of a member, by the numbers of replSetGetStatus.
const (
	stateStartup    int32 = 0
	statePrimary    int32 = 1
	stateSecondary  int32 = 2
	stateRecovering int32 = 3
	stateArbiter    int32 = 7
	stateDown       int32 = 8
	stateRemoved    int32 = 10
)

// stateNames are what the states are called. It is never written to.
var stateNames = map[int32]string{
	statePrimary: "PRIMARY", stateSecondary: "SECONDARY", stateArbiter: "ARBITER", stateDown: "(not reachable/healthy)",
	stateStartup: "STARTUP", stateRecovering: "RECOVERING", stateRemoved: "REMOVED",
}

func (m *member) state() int32 {
	switch {
	case m.set.initiation != initiated:
		return stateStartup
	case m.config.Removed:
		return stateRemoved
	case m.config.Arbiter:
		return stateArbiter
	case m.role == primary:
		return statePrimary
	case m.stale:
		return stateRecovering
	}
	return stateSecondary
}
