package mongotest

import (
	"errors"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/command/replSetGetStatus/

func cmdReplSetGetStatus(x *call) error {
	if err := errors.Join(x.adminOfSet(), x.noArgs()); err != nil {
		return err
	}
	rs, m := x.client.cluster, x.client.member
	rs.set.Lock()
	defer rs.set.Unlock()
	if err := x.configuredLocked("no replset config has been received"); err != nil {
		return err
	}
	dst := wire.AppendString(x.result.out, "set", rs.setName)
	dst = wire.AppendDateTime(dst, "date", time.Now().UnixMilli())
	dst = wire.AppendInt32(dst, "myState", int32(m.StateLocked()))
	dst = wire.AppendInt64(dst, "term", m.Term)
	source, _ := m.SourceLocked()
	dst = rs.appendSource(dst, source)
	dst = wire.AppendInt64(dst, "heartbeatIntervalMillis", heartbeats.Milliseconds())
	dst = wire.AppendInt32(dst, "majorityVoteCount", int32(rs.set.VoteMajority))
	dst = wire.AppendInt32(dst, "writeMajorityCount", int32(rs.set.WriteMajority))
	dst = wire.AppendInt32(dst, "votingMembersCount", int32(rs.set.Votes))
	dst = wire.AppendInt32(dst, "writableVotingMembersCount", int32(rs.set.Votes-rs.set.ArbitersLocked()))
	dst = m.appendOpTimes(dst)
	at, dst := wire.BeginArray(dst, "members")
	n := 0
	for _, other := range rs.members {
		if !other.Config.Removed {
			dst = m.appendStatusLocked(dst, wire.ArrayKey(n), other)
			n++
		}
	}
	x.result.out = wire.EndDocument(dst, at)
	return nil
}

// appendSource writes whom a member fetches from, nil for nobody.
func (rs *cluster) appendSource(dst []byte, from *replica.Member) []byte {
	host, id := "", int64(-1)
	if from != nil {
		host, id = rs.memberOf(from).Addr, from.Config.ID
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
	dst = wire.AppendInt32(dst, "_id", int32(other.Config.ID))
	dst = wire.AppendString(dst, "name", other.Addr)
	health, state, uptime := 1.0, other.StateLocked(), time.Since(other.Started)
	heard := m.Reaches(other.Member)
	if !heard {
		health, state, uptime = 0, replica.StateDown, 0
	}
	dst = wire.AppendDouble(dst, "health", health)
	dst = wire.AppendInt32(dst, "state", int32(state))
	dst = wire.AppendString(dst, "stateStr", state.String())
	dst = wire.AppendInt32(dst, "uptime", int32(uptime.Seconds()))
	dst = m.appendProgress(dst, other, heard)
	if other != m {
		dst = appendHeartbeat(dst, other, heard)
	}
	var source *replica.Member
	if heard {
		source, _ = other.SourceLocked()
	}
	dst = wire.AppendString(m.cluster.appendSource(dst, source), "infoMessage", "")
	if heard && other.Role == replica.Primary {
		seconds := other.Elected.Unix()
		dst = wire.AppendTimestamp(dst, "electionTime", uint32(seconds), 1)
		dst = wire.AppendDateTime(dst, "electionDate", seconds*1000)
	}
	dst = m.cluster.appendConfigLocked(dst, heard)
	if other == m {
		dst = wire.AppendBool(dst, "self", true)
		dst = wire.AppendString(dst, "lastHeartbeatMessage", "")
	}
	return wire.EndDocument(dst, at)
}

// appendProgress writes how far a member is that has data: of one that is not heard of nothing is known.
func (m *member) appendProgress(dst []byte, other *member, heard bool) []byte {
	if !other.Config.BearsData() {
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
	last := other.Started.Add(time.Since(other.Started).Truncate(heartbeats))
	received, message := last, ""
	if !heard {
		received, message = other.Started, "Error connecting to "+other.Addr
	}
	dst = wire.AppendDateTime(dst, "lastHeartbeat", last.UnixMilli())
	dst = wire.AppendDateTime(dst, "lastHeartbeatRecv", received.UnixMilli())
	dst = wire.AppendInt64(dst, "pingMs", 0)
	return wire.AppendString(dst, "lastHeartbeatMessage", message)
}

// appendConfigLocked writes which configuration a member has, if it is heard of. The term is known since 4.4.
func (rs *cluster) appendConfigLocked(dst []byte, heard bool) []byte {
	version, term := rs.set.ConfigVersion, rs.set.TermLocked()
	if !heard {
		version, term = -1, -1
	}
	dst = wire.AppendInt32(dst, "configVersion", int32(version))
	if rs.set.Version.AtLeast(4, 4) {
		dst = query.AppendSmallest(dst, "configTerm", term)
	}
	return dst
}
